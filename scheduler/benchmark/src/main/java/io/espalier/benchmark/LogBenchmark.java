package io.espalier.benchmark;

import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogRetention;
import io.espalier.worker.logs.SegmentLogStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

/**
 * The store of task logs beside a SQLite table, in turns, in one run: writing, bytes on the disk,
 * the last lines of a task, a search, deleting the older half. Prints Markdown.
 *
 * <p>64 of 2,000 tasks write at a time, 1,000 lines a second, lines of some 100 bytes. Arguments:
 * the numbers of lines; without any 1000000. The files lie in a temporary directory, so {@code
 * -Djava.io.tmpdir} chooses the disk.
 */
public final class LogBenchmark {
  private static final int ROUNDS = 3;
  private static final int NODES = 2000;
  private static final int AT_A_TIME = 64;
  private static final int QUERIES = 200;
  private static final long START = 1_800_000_000_000L;
  private static final String JOB = "compress";
  private static final String REGEX = "chunk 4[0-9]{2} .*slow";

  /** One round of one store. */
  private record Round(
      double linesPerSecond,
      double bytesPerLine,
      double queryMicros,
      double searchedPerSecond,
      double pruneMillis,
      double stallMillis) {}

  private LogBenchmark() {}

  public static void main(String[] args) throws Exception {
    List<Integer> sizes = new ArrayList<>(Arrays.stream(args).map(Integer::valueOf).toList());
    if (sizes.isEmpty()) {
      sizes.add(1_000_000);
    }
    System.out.println(
        "| lines | store | written per second | bytes per line | last 100 lines of a task | searched"
            + " per second | deleting the older half | longest stall of it |");
    System.out.println("|---|---|---|---|---|---|---|---|");
    for (int lines : sizes) {
      List<Round> ours = new ArrayList<>();
      List<Round> theirs = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        ours.add(inDirectory(directory -> segments(directory, lines)));
        theirs.add(inDirectory(directory -> sqlite(directory, lines)));
      }
      say(lines, "segment files", ours);
      say(lines, "SQLite", theirs);
    }
  }

  private interface Measurement {
    Round in(Path directory) throws IOException, SQLException;
  }

  private static Round inDirectory(Measurement measurement) throws IOException, SQLException {
    Path directory = Files.createTempDirectory("log-benchmark");
    try {
      return measurement.in(directory);
    } finally {
      try (var files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static Round segments(Path directory, int lines) throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    long begin = System.nanoTime();
    try (SegmentLogStore store = SegmentLogStore.open(directory)) {
      for (int i = 0; i < lines; i++) {
        while (!store.hasRoom()) {
          Thread.onSpinWait();
        }
        store.append(
            new LogEntry(
                Stream.STDOUT, JOB, node(i, lines), "1." + i % 64, START + i, text(random, i)));
      }
    }
    double seconds = seconds(begin);
    long bytes = size(directory);
    try (SegmentLogStore store = SegmentLogStore.open(directory)) {
      double[] micros = new double[QUERIES];
      for (int i = 0; i < QUERIES; i++) {
        LogQuery query =
            LogQuery.of(Stream.STDOUT)
                .withJobs(List.of(JOB))
                .withNodes(List.of("node" + random.nextInt(NODES)))
                .withAscending(false);
        long at = System.nanoTime();
        int found = 0;
        LogPage page;
        do {
          page = store.query(query.withLimit(100 - found));
          found += page.lines().size();
          query = query.withFrom(page.nextId());
        } while (found < 100 && page.nextId() != LogPage.END);
        micros[i] = seconds(at) * 1e6;
      }
      begin = System.nanoTime();
      LogQuery search =
          LogQuery.of(Stream.STDOUT).withJobs(List.of(JOB)).withRegex(REGEX).withLimit(1000);
      long found = 0;
      for (long from = -1; ; ) {
        LogPage page = store.query(search.withFrom(from));
        found += page.lines().size();
        from = page.nextId();
        if (from == LogPage.END) {
          break;
        }
      }
      double searched = lines / seconds(begin);
      require(found > 0 || lines < 100_000);
      store.apply(new LogPolicy(new LogRetention(lines / 2, 0), List.of()));
      // What others would notice of it: how long an append takes meanwhile.
      long[] stall = new long[1];
      Thread appender =
          new Thread(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  long at = System.nanoTime();
                  store.append(Stream.STDERR, JOB, "node", START + lines, "still here\n");
                  stall[0] = Math.max(stall[0], System.nanoTime() - at);
                }
              });
      begin = System.nanoTime();
      appender.start();
      store.prune(START + lines);
      double prune = seconds(begin) * 1e3;
      appender.interrupt();
      join(appender);
      return new Round(
          lines / seconds, (double) bytes / lines, median(micros), searched, prune, stall[0] / 1e6);
    }
  }

  private static Round sqlite(Path directory, int lines) throws SQLException, IOException {
    SplittableRandom random = new SplittableRandom(1);
    long begin = System.nanoTime();
    try (SqliteLogs store = new SqliteLogs(directory.resolve("logs.sqlite"))) {
      for (int i = 0; i < lines; i++) {
        store.append(JOB, node(i, lines), START + i, text(random, i));
      }
      store.last(JOB, "none", 1);
      double seconds = seconds(begin);
      double[] micros = new double[QUERIES];
      for (int i = 0; i < QUERIES; i++) {
        String node = "node" + random.nextInt(NODES);
        long at = System.nanoTime();
        List<String> found = store.last(JOB, node, 100);
        micros[i] = seconds(at) * 1e6;
        require(!found.isEmpty() || lines < 100_000);
      }
      begin = System.nanoTime();
      require(store.search(JOB, Pattern.compile(REGEX)) > 0 || lines < 100_000);
      double searched = lines / seconds(begin);
      long bytes = size(directory);
      begin = System.nanoTime();
      long stall = store.prune(START + lines / 2);
      return new Round(
          lines / seconds,
          (double) bytes / lines,
          median(micros),
          searched,
          seconds(begin) * 1e3,
          stall / 1e6);
    }
  }

  /** 64 tasks write at a time, then the next 64. */
  private static String node(int line, int lines) {
    int groups = (NODES + AT_A_TIME - 1) / AT_A_TIME;
    int group = (int) ((long) line * groups / lines);
    return "node" + Math.min(NODES - 1, group * AT_A_TIME + line % AT_A_TIME);
  }

  private static String text(SplittableRandom random, int i) {
    return "INFO  [worker-"
        + i % 8
        + "] copied chunk "
        + random.nextInt(1000)
        + " of table_"
        + random.nextInt(40)
        + " in "
        + random.nextInt(100_000)
        + " us, "
        + Long.toHexString(random.nextLong())
        + (random.nextInt(200) == 0 ? ", slow disk" : ", checksum good")
        + "\n";
  }

  private static void say(int lines, String store, List<Round> rounds) {
    System.out.printf(
        Locale.ROOT,
        "| %,d | %s | %,.0f | %.1f | %.2f ms | %,.0f | %,.0f ms | %.1f ms |%n",
        lines,
        store,
        median(rounds.stream().mapToDouble(Round::linesPerSecond).toArray()),
        median(rounds.stream().mapToDouble(Round::bytesPerLine).toArray()),
        median(rounds.stream().mapToDouble(Round::queryMicros).toArray()) / 1000,
        median(rounds.stream().mapToDouble(Round::searchedPerSecond).toArray()),
        median(rounds.stream().mapToDouble(Round::pruneMillis).toArray()),
        median(rounds.stream().mapToDouble(Round::stallMillis).toArray()));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static long size(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      long size = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        size += Files.size(file);
      }
      return size;
    }
  }

  private static void require(boolean expected) {
    if (!expected) {
      throw new IllegalStateException("a store did not find what it was given");
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }
}
