package io.espalier.benchmark;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.worker.LocalRunner;
import io.espalier.worker.logs.SegmentLogStore;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.resources.MeasuringOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * So many sleeping tasks at once: what each costs in threads, descriptors and memory, and what
 * watching them costs while nothing happens. Arguments: how many (5000), seconds of rest (10).
 * {@code -Dunmeasured=true}: without samples of what they use.
 */
public final class ManyTasks {
  private static final int TICKS_PER_SECOND = 100;

  private ManyTasks() {}

  private record Use(int threads, int descriptors, long residentMb, long cpuMillis) {
    static Use now() throws IOException {
      String status = Files.readString(Path.of("/proc/self/status"));
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      int descriptors;
      try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
        descriptors = (int) open.count() - 1;
      }
      return new Use(
          (int) number(status, "Threads"),
          descriptors,
          number(status, "VmRSS") / 1024,
          (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 1000 / TICKS_PER_SECOND);
    }

    private static long number(String status, String name) {
      for (String line : status.split("\n", -1)) {
        if (line.startsWith(name + ":")) {
          return Long.parseLong(line.substring(name.length() + 1).strip().split(" ", 2)[0]);
        }
      }
      return -1;
    }
  }

  public static void main(String[] args) throws Exception {
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 5000;
    int rest = args.length > 1 ? Integer.parseInt(args[1]) : 10;
    Path directory = Files.createTempDirectory("espalier-many");
    try (SegmentLogStore logs = SegmentLogStore.open(directory.resolve("logs"))) {
      AtomicInteger ended = new AtomicInteger();
      try (LocalRunner runner = LocalRunner.prepare("many", options(directory), logs)) {
        runner.open(end -> ended.incrementAndGet());
        Use before = Use.now();
        long begin = System.nanoTime();
        List<LaunchSpec> launches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          LaunchSpec launch = launch(i);
          runner.start(launch);
          launches.add(launch);
        }
        while (runner.supervisor().tasks().stream().filter(t -> t.pid() > 0).count() < count) {
          if (ended.get() > 0) {
            throw new IllegalStateException("a task has ended; see the logs in " + directory);
          }
          TimeUnit.MILLISECONDS.sleep(100);
        }
        double started = (System.nanoTime() - begin) / 1e9;
        Use full = Use.now();
        TimeUnit.SECONDS.sleep(rest);
        Use rested = Use.now();
        long killBegin = System.nanoTime();
        for (LaunchSpec launch : launches) {
          boolean unused =
              runner.kill(
                  launch.job(),
                  launch.node(),
                  launch.invocation(),
                  new KillRequest(KillRequest.Method.TERM, 0));
        }
        while (ended.get() < count) {
          TimeUnit.MILLISECONDS.sleep(20);
        }
        double killed = (System.nanoTime() - killBegin) / 1e9;
        System.out.printf(
            Locale.ROOT,
            "%d tasks: %d threads more, %.2f descriptors each, %d MB resident (%d before), started in"
                + " %.1f s, %.2f %% of a core at rest, ended in %.1f s%n",
            count,
            full.threads() - before.threads(),
            (double) (full.descriptors() - before.descriptors()) / count,
            Math.max(full.residentMb(), rested.residentMb()),
            before.residentMb(),
            started,
            100.0 * (rested.cpuMillis() - full.cpuMillis()) / (1000.0 * rest),
            killed);
      }
      delete(directory.resolve("jobs"));
    }
    delete(directory);
  }

  private static SupervisorOptions options(Path directory) {
    SupervisorOptions usual = SupervisorOptions.of(directory, directory);
    return Boolean.getBoolean("unmeasured") ? usual.withMeasuring(MeasuringOptions.OFF) : usual;
  }

  private static LaunchSpec launch(int i) {
    return LaunchSpec.of("sleep", "node" + i, new Invocation(1, i, System.currentTimeMillis()))
        .command(List.of("/bin/sleep", "600"))
        .statusFrom(StatusSource.EXIT_CODE)
        .kill(new KillRequest(KillRequest.Method.TERM, 0))
        .build();
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
