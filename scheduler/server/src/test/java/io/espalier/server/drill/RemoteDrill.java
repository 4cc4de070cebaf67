package io.espalier.server.drill;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler and its workers as real processes, broken by a schedule drawn from a seed: killed,
 * frozen, cut off, made mute. What ran is judged from outside, by what the tasks wrote (see {@link
 * Observer}), never by what the program says of itself.
 *
 * <p>One schedule is one job on a cluster that stays up from schedule to schedule. A third of the
 * tasks ignore SIGTERM, another third has a child that left its process group and session.
 */
public final class RemoteDrill implements AutoCloseable {
  private static final int NODES_PER_HOST = 8;
  private static final int DATA_HOSTS = 6;
  private static final int TASKS = NODES_PER_HOST * DATA_HOSTS;
  private static final Duration FAULTS_FOR = Duration.ofSeconds(7);
  private static final Duration FINISH_WITHIN = Duration.ofSeconds(90);

  private static final String TASK =
      """
      #!/usr/bin/perl
      # Writes S at its start, A every 50 ms while anything of it lives, E at its end.
      use strict; use warnings;
      my ($node, $status) = @ARGV;
      my $token = $ENV{ESPALIER_TASK_TOKEN};
      my $file = "SITE/work-$ENV{ESPALIER_TASK_JOB}";
      sub note { open(my $out, '>>', $file) or die $!; syswrite($out, "$_[0] $token $node\\n"); close($out); }
      sub live { my ($turns) = @_; for (1 .. $turns) { select(undef, undef, undef, 0.05); note('A'); } }
      note('S');
      my $sum = 0; $sum += ord($_) for split(//, $node);
      $SIG{TERM} = 'IGNORE' if $sum % 3 == 0;
      my $child = 0;
      if ($sum % 3 == 1) {
        pipe(my $in, my $out);
        if (!fork()) {
          require POSIX; POSIX::setsid();
          my $pid = fork();
          if ($pid) { syswrite($out, "$pid\\n"); POSIX::_exit(0); }
          close(STDOUT); close(STDERR);
          $SIG{TERM} = 'IGNORE';
          live(400); POSIX::_exit(0);
        }
        $child = <$in>; wait();
      }
      live(3 + $sum % 17);
      kill('KILL', $child) if $child;
      note('E');
      open(my $out, '>', $status) or die $!; print $out "done\\n"; close($out);
      """;

  /** How long things take in a drill; much shorter than in production. */
  private static final List<String> SCHEDULER_TIMERS =
      List.of("--heartbeat-ms", "300", "--lease-ms", "3000", "--lease-margin-ms", "1500");

  private final Hosts hosts;
  private final Path site;
  private final Part scheduler;
  private final List<Part> workers = new ArrayList<>();
  private final int http;

  /** What came of a schedule. */
  public record Outcome(
      long seed, List<String> faults, int invocations, int again, List<String> violations) {}

  private RemoteDrill(Hosts hosts, Path site, int workerCount, int basePort) throws IOException {
    this.hosts = hosts;
    this.site = site;
    this.http = basePort;
    Files.createDirectories(site.resolve("config"));
    Path task = site.resolve("task");
    Files.writeString(task, TASK.replace("SITE", site.toString()));
    Files.setPosixFilePermissions(task, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path token = site.resolve("token");
    Files.writeString(token, "drill-" + Long.toHexString(System.nanoTime()) + "-secret\n");
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    write("config/settings.json", settings());
    String thrift = hosts.address(0) + ":" + (basePort + 1);
    List<String> schedulerArguments =
        new ArrayList<>(
            List.of(
                "scheduler",
                "--config",
                site.resolve("config").toString(),
                "--runner",
                "remote",
                "--data-dir",
                site.resolve("scheduler").toString(),
                "--instance-node-name",
                "drill",
                "--http",
                "127.0.0.1:" + basePort,
                "--thrift",
                thrift,
                "--token-file",
                token.toString()));
    schedulerArguments.addAll(SCHEDULER_TIMERS);
    scheduler = new Part("scheduler", hosts.command(0), schedulerArguments, site);
    for (int i = 1; i <= workerCount; i++) {
      workers.add(
          new Part(
              "w" + i,
              hosts.command(i),
              List.of(
                  "worker",
                  "--scheduler",
                  thrift,
                  "--shard-id",
                  "w" + i,
                  "--thrift",
                  hosts.address(i) + ":" + (basePort + 1 + i),
                  "--data-dir",
                  site.resolve("worker" + i).toString(),
                  "--token-file",
                  token.toString()),
              site));
    }
  }

  /** Starts the cluster. */
  public static RemoteDrill start(Path site, int workers, boolean namespaces, int basePort)
      throws IOException {
    Hosts hosts =
        namespaces
            ? Hosts.namespaces("espd" + basePort % 1000 + "-", workers + 1)
            : Hosts.loopback(workers + 1);
    RemoteDrill drill = new RemoteDrill(hosts, site, workers, basePort);
    drill.scheduler.start();
    drill.workers.forEach(Part::start);
    return drill;
  }

  private static String settings() {
    StringBuilder children = new StringBuilder();
    for (int h = 0; h < DATA_HOSTS; h++) {
      StringBuilder names = new StringBuilder();
      for (int n = 0; n < NODES_PER_HOST; n++) {
        names.append(n == 0 ? "" : ", ").append("\"h").append(h).append(".").append(n).append('"');
      }
      children.append(h == 0 ? "" : ", ").append("\"h" + h + "\": {\"children\": [" + names + "]}");
    }
    return """
    {
      "bistro_settings": {
        "enabled": true,
        "nodes": {
          "levels": ["host", "db"],
          "node_sources": [
            {"source": "manual", "prefs": {"HOSTS": {}}}
          ]
        },
        "resources": {
          "host": {"host_slots": {"default": 1, "limit": 3}},
          "worker": {"worker_slots": {"default": 1, "limit": 5}}
        },
        "backoff": [1, "repeat"],
        "kill_subprocess": {"method": "term_wait_kill", "kill_wait_ms": 300}
      }
    }
    """
        .replace("\"HOSTS\": {}", children);
  }

  private void write(String name, String text) throws IOException {
    Path aside = Files.createTempFile(site, "aside-", ".tmp");
    Files.writeString(aside, text);
    Files.move(aside, site.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private enum Fault {
    KILL_WORKER,
    FREEZE_WORKER,
    KILL_SCHEDULER,
    FREEZE_SCHEDULER,
    CUT_WORKER,
    MUTE_WORKER,
    CUT_SCHEDULER
  }

  private static final List<Fault> WITHOUT_NETWORK =
      List.of(Fault.KILL_WORKER, Fault.FREEZE_WORKER, Fault.KILL_SCHEDULER, Fault.FREEZE_SCHEDULER);

  /** Runs one job through the faults of a seed, and judges it. */
  public Outcome schedule(long seed) throws IOException, InterruptedException {
    Random random = new Random(seed);
    String job = "job" + seed;
    Observer observer = new Observer(site.resolve("work-" + job));
    write(
        "config/" + job + ".json",
        "{\"bistro_job->JOB\": {\"owner\": \"drill\", \"command\": [\"TASK\"]}}"
            .replace("JOB", job)
            .replace("TASK", site.resolve("task").toString()));
    Map<String, Integer> doneSince = new HashMap<>();
    List<String> told = new ArrayList<>();
    long begin = System.nanoTime();
    long end = begin + FAULTS_FOR.toNanos();
    List<Undo> undos = new ArrayList<>();
    long nextFault = begin + random.nextInt(1500) * 1_000_000L;
    while (System.nanoTime() - end < 0) {
      long now = System.nanoTime();
      undo(undos, now);
      if (now - nextFault >= 0) {
        told.add((now - begin) / 1_000_000 + " ms: " + fault(random, undos, now));
        nextFault = now + (300 + random.nextInt(1500)) * 1_000_000L;
      }
      poll(job, observer, doneSince);
      TimeUnit.MILLISECONDS.sleep(50);
    }
    undo(undos, Long.MAX_VALUE);
    scheduler.start();
    workers.forEach(Part::start);
    long deadline = System.nanoTime() + FINISH_WITHIN.toNanos();
    while (doneSince.size() < TASKS && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(100);
      poll(job, observer, doneSince);
    }
    Observer.Findings findings = observer.look(doneSince);
    List<String> violations = new ArrayList<>(findings.violations());
    if (doneSince.size() < TASKS) {
      violations.add("only " + doneSince.size() + " of " + TASKS + " are done");
    }
    Files.delete(site.resolve("config/" + job + ".json"));
    return new Outcome(seed, told, findings.invocations(), findings.again(), violations);
  }

  private record Undo(long atNanos, Runnable action) {}

  private static void undo(List<Undo> undos, long now) {
    for (Undo undo : List.copyOf(undos)) {
      if (now == Long.MAX_VALUE || now - undo.atNanos() >= 0) {
        undo.action().run();
        undos.remove(undo);
      }
    }
  }

  private String fault(Random random, List<Undo> undos, long now) {
    List<Fault> possible = hosts.canBeCut() ? List.of(Fault.values()) : WITHOUT_NETWORK;
    Fault fault = possible.get(random.nextInt(possible.size()));
    int host = 1 + random.nextInt(workers.size());
    Part worker = workers.get(host - 1);
    int millis = 100 + random.nextInt(random.nextBoolean() ? 1500 : 6000);
    long until = now + millis * 1_000_000L;
    switch (fault) {
      case KILL_WORKER -> {
        worker.kill();
        undos.add(new Undo(until, worker::start));
      }
      case FREEZE_WORKER -> {
        worker.freeze();
        undos.add(new Undo(until, worker::thaw));
      }
      case KILL_SCHEDULER -> {
        scheduler.kill();
        undos.add(new Undo(now + millis * 300_000L, scheduler::start));
      }
      case FREEZE_SCHEDULER -> {
        scheduler.freeze();
        undos.add(new Undo(until, scheduler::thaw));
      }
      case CUT_WORKER -> {
        hosts.cut(host);
        undos.add(new Undo(until, () -> hosts.mend(host)));
      }
      case MUTE_WORKER -> {
        hosts.mute(host);
        undos.add(new Undo(until, () -> hosts.mend(host)));
      }
      case CUT_SCHEDULER -> {
        hosts.cut(0);
        undos.add(new Undo(until, () -> hosts.mend(0)));
      }
    }
    String whom = fault.name().endsWith("SCHEDULER") ? "scheduler" : worker.name();
    return fault + " " + whom + " for " + millis + " ms";
  }

  /** Notes which tasks the scheduler says are done, if it answers. */
  private void poll(String job, Observer observer, Map<String, Integer> doneSince)
      throws IOException, InterruptedException {
    Json.@Nullable Obj page = get("/api/v1/jobs/" + job + "/tasks?status=done&limit=" + TASKS);
    if (page == null || !(page.get("tasks") instanceof Json.Arr tasks)) {
      return;
    }
    Set<String> done = new HashSet<>();
    for (Json task : tasks.items()) {
      if (task instanceof Json.Obj object && object.get("node") instanceof Json.Str node) {
        done.add(node.value());
      }
    }
    done.removeAll(doneSince.keySet());
    if (!done.isEmpty()) {
      // Whatever is written from here on was written after the scheduler had said so.
      int lines = observer.length();
      done.forEach(node -> doneSince.put(node, lines));
    }
  }

  private Json.@Nullable Obj get(String path) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(hosts.command(0));
    command.addAll(List.of("curl", "-s", "--max-time", "2", "http://127.0.0.1:" + http + path));
    Process curl =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String body = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (curl.waitFor() != 0) {
      return null;
    }
    return JsonReader.parse(body).value() instanceof Json.Obj object ? object : null;
  }

  /** What the processes said last. */
  public String lastWords() {
    StringBuilder text = new StringBuilder();
    text.append("scheduler: ").append(scheduler.lastWords()).append('\n');
    workers.forEach(w -> text.append(w.name()).append(": ").append(w.lastWords()).append('\n'));
    return text.toString();
  }

  @Override
  public void close() {
    for (int i = 0; i <= workers.size(); i++) {
      hosts.mend(i);
    }
    workers.forEach(Part::close);
    scheduler.close();
    hosts.close();
  }

  /** {@code RemoteDrill SCHEDULES [FIRST-SEED [WORKERS [loopback|namespaces [PORT]]]]}. */
  public static void main(String[] args) throws Exception {
    int schedules = Integer.parseInt(args[0]);
    long first = args.length > 1 ? Long.parseLong(args[1]) : 1;
    int workers = args.length > 2 ? Integer.parseInt(args[2]) : 4;
    boolean namespaces = args.length <= 3 || args[3].equals("namespaces");
    int port = args.length > 4 ? Integer.parseInt(args[4]) : 18_300;
    Path site = Files.createTempDirectory("espalier-drill-");
    int bad = 0;
    long invocations = 0;
    long again = 0;
    try (RemoteDrill drill = start(site, workers, namespaces, port)) {
      for (long seed = first; seed < first + schedules; seed++) {
        Outcome outcome = drill.schedule(seed);
        invocations += outcome.invocations();
        again += outcome.again();
        System.out.println(
            "seed "
                + seed
                + ": "
                + outcome.invocations()
                + " invocations, "
                + outcome.again()
                + " of them again, "
                + outcome.faults().size()
                + " faults, "
                + (outcome.violations().isEmpty() ? "ok" : outcome.violations().toString()));
        if (!outcome.violations().isEmpty()) {
          bad++;
          outcome.faults().forEach(fault -> System.out.println("  " + fault));
          System.out.println(drill.lastWords());
        }
      }
    }
    System.out.printf(
        "%d schedules, %d with violations; %d invocations, %d of them again; files in %s%n",
        schedules, bad, invocations, again, site);
    System.exit(bad == 0 ? 0 : 1);
  }
}
