package io.espalier.e2e.drill;

import io.espalier.core.json.Json;
import io.espalier.e2e.Distribution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler and its workers as real processes, broken by a schedule drawn from a seed. What ran
 * is judged from outside, by what the tasks wrote (see {@link Observer}), and compared with what
 * the API says is done; never by what the program says of itself otherwise.
 *
 * <p>One schedule is one job on a cluster that stays up from schedule to schedule.
 */
public final class RemoteDrill implements AutoCloseable {
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  /** Faults begin within this time. */
  private static final Duration FAULTS_FOR = Duration.ofSeconds(5);

  /** What is still broken then is mended. */
  private static final Duration MENDED_AFTER = Duration.ofSeconds(8);

  private static final String NODES = "nodes.csv";

  static final Duration START_WITHIN = Duration.ofSeconds(60);
  private static final Duration FINISH_WITHIN = Duration.ofMinutes(3);

  /** How long things take in a drill; much shorter than in production. */
  private static final List<String> TIMERS =
      List.of(
          "--heartbeat-ms", "500",
          "--call-ms", "450",
          "--lease-ms", "3000",
          "--stop-ms", "1300",
          "--kill-wait-ms", "300",
          "--guard-ms", "700",
          "--lease-margin-ms", "1500");

  private final Hosts hosts;
  private final Path site;
  private final Part scheduler;
  private final List<Part> workers = new ArrayList<>();
  private final List<Disk> disks;
  private final Faults faults;
  private final Api api;

  /**
   * What came of a schedule.
   *
   * @param again how many invocations were not the first of their task
   * @param takenOver how many of them were begun while the worker of the one before was frozen
   * @param recoveryMillis from the end of the faults to the end of the job
   */
  public record Outcome(
      long seed,
      List<String> faults,
      int invocations,
      int again,
      int takenOver,
      long recoveryMillis,
      List<String> violations) {}

  private RemoteDrill(Hosts hosts, Path site, int workerCount, int basePort) throws IOException {
    this.hosts = hosts;
    this.site = site;
    this.api = new Api(hosts, basePort);
    Files.createDirectories(site.resolve("config"));
    program("task", DrillJob.SHORT_AND_LONG);
    program("long-task", DrillJob.LONG);
    Path token = site.resolve("token");
    Files.writeString(token, "drill-" + Long.toHexString(System.nanoTime()) + "-secret\n");
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    write(NODES, DrillJob.nodes());
    write("config/settings.json", DrillJob.settings(site.resolve(NODES)));
    String thrift = hosts.address(0) + ":" + (basePort + 1);
    Disk disk = Disk.in(site.resolve("scheduler"));
    Map<Part, Disk> diskOf = new HashMap<>();
    List<String> schedulerArguments =
        new ArrayList<>(
            List.of(
                "scheduler",
                "--config",
                site.resolve("config").toString(),
                "--runner",
                "remote",
                "--status-store",
                "sqlite",
                "--data-dir",
                disk.data().toString(),
                "--instance-node-name",
                "drill",
                "--http",
                "127.0.0.1:" + basePort,
                "--thrift",
                thrift,
                "--token-file",
                token.toString()));
    schedulerArguments.addAll(TIMERS);
    scheduler =
        new Part(
            "scheduler", site, hosts.command(0), Distribution.command("INFO"), schedulerArguments);
    diskOf.put(scheduler, disk);
    for (int i = 1; i <= workerCount; i++) {
      Disk own = Disk.in(site.resolve("worker-w" + i));
      Part worker =
          new Part(
              "w" + i,
              site,
              hosts.command(i),
              Distribution.command("INFO"),
              List.of(
                  "worker",
                  "--scheduler",
                  thrift,
                  "--shard-id",
                  "w" + i,
                  "--data-dir",
                  own.data().toString(),
                  "--token-file",
                  token.toString()));
      diskOf.put(worker, own);
      workers.add(worker);
    }
    disks = List.copyOf(diskOf.values());
    faults = new Faults(hosts, scheduler, workers, diskOf, api::post, this::nodes);
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

  /** Until all workers take tasks. */
  private void awaitWorkers() {
    boolean unused =
        Patience.until(START_WITHIN, LOOK_EVERY, () -> readyWorkers() >= workers.size());
  }

  private long readyWorkers() throws IOException, InterruptedException {
    Json.@Nullable Obj page = api.get("/api/v1/workers");
    return page != null && page.get("workers") instanceof Json.Arr listed
        ? listed.items().stream()
            .filter(each -> each instanceof Json.Obj worker && isTrue(worker.get("takes_tasks")))
            .count()
        : 0;
  }

  private static boolean isTrue(@Nullable Json value) {
    return value instanceof Json.Bool flag && flag.value();
  }

  private void program(String name, String turns) throws IOException {
    write(name, DrillJob.task(site, turns));
    Files.setPosixFilePermissions(site.resolve(name), PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Lets the source of nodes answer with that. */
  private void nodes(String text) {
    try {
      write(NODES, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(String name, String text) throws IOException {
    Path aside = Files.createTempFile(site, "aside-", ".tmp");
    Files.writeString(aside, text);
    Files.move(aside, site.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Runs one job through the faults of a seed, and judges it. */
  public Outcome schedule(long seed) throws IOException, InterruptedException {
    awaitWorkers();
    DrillRun run = new DrillRun(api, site, "job" + seed, DrillJob.TASKS);
    write("config/" + run.job() + ".json", DrillJob.job(run.job(), site.resolve("task"), ".*"));
    return through(
        Faults.Fault.drawn(new Random(seed), workers.size(), FAULTS_FOR.toMillis()), run, seed);
  }

  /**
   * Freezes a worker whose tasks take longer than its lease, until all of them were begun elsewhere
   * (or nobody has begun them for a minute).
   */
  Outcome freezeOne(long number) throws IOException, InterruptedException {
    awaitWorkers();
    DrillRun run =
        new DrillRun(api, site, "freeze" + number, DrillJob.LIMIT_PER_HOST * DrillJob.DATA_HOSTS);
    String nodes = "h.\\.[0-" + (DrillJob.LIMIT_PER_HOST - 1) + "]";
    write(
        "config/" + run.job() + ".json", DrillJob.job(run.job(), site.resolve("long-task"), nodes));
    Part worker = workers.get(0);
    Set<String> on = run.awaitTasksOn(worker.name());
    faults.freeze(worker);
    run.awaitElsewhere(on, worker.name());
    List<String> told = List.of(worker.name() + " was frozen until " + on + " ran elsewhere");
    return finished(run, told, number);
  }

  private Outcome through(List<Faults.Fault> drawn, DrillRun run, long seed)
      throws IOException, InterruptedException {
    run.awaitStart();
    List<String> told = new ArrayList<>();
    long begin = System.nanoTime();
    Deque<Faults.Fault> left = new ArrayDeque<>(drawn);
    boolean unused =
        Patience.until(
            MENDED_AFTER.multipliedBy(2),
            LOOK_EVERY,
            () -> {
              long millis = since(begin);
              faults.mendDue();
              for (Faults.Fault next = left.peek();
                  next != null && next.atMillis() <= millis;
                  next = left.peek()) {
                boolean done = faults.tried(left.remove());
                told.add(next + (done ? "" : " (cannot be done)"));
                if (done && next.kind() == Faults.Kind.SET_BACK_STORE) {
                  run.storeWasSetBack();
                }
              }
              run.poll();
              return since(begin) >= MENDED_AFTER.toMillis();
            });
    return finished(run, told, seed);
  }

  private Outcome finished(DrillRun run, List<String> told, long seed)
      throws IOException, InterruptedException {
    long healed = System.nanoTime();
    AtomicBoolean mended = new AtomicBoolean();
    boolean unused =
        Patience.until(
            FINISH_WITHIN,
            LOOK_EVERY,
            () -> {
              mended.set(mended.get() || faults.mendAll());
              run.poll();
              return mended.get() && run.done() == run.tasks();
            });
    boolean whole = mended.get();
    long recovery = since(healed);
    Observer.Findings findings = run.findings();
    List<String> violations = new ArrayList<>(findings.violations());
    violations.addAll(run.lost());
    if (!whole) {
      violations.add("not everything could be mended");
    }
    if (run.done() < run.tasks()) {
      violations.add("only " + run.done() + " of " + run.tasks() + " are done: " + run.state());
    }
    Files.delete(site.resolve("config/" + run.job() + ".json"));
    return new Outcome(
        seed,
        told,
        findings.lives().size(),
        findings.again(),
        takenOver(findings),
        recovery,
        violations);
  }

  static long since(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  /** How often a task of a frozen worker was begun elsewhere before that worker could go on. */
  private int takenOver(Observer.Findings findings) {
    int count = 0;
    Map<String, Observer.Life> last = new HashMap<>();
    for (Observer.Life life : findings.lives()) {
      Observer.Life before = last.put(life.node, life);
      if (before == null || before.ended) {
        continue;
      }
      for (Faults.Freeze freeze : faults.freezes()) {
        if (before.worker.equals(freeze.worker())
            && !life.worker.equals(freeze.worker())
            && before.startMillis < freeze.fromMillis()
            && before.lastMillis > freeze.fromMillis()
            && life.startMillis > freeze.fromMillis()
            && life.startMillis < freeze.toMillis()) {
          count++;
        }
      }
    }
    return count;
  }

  /** {@code kill -9} of everything, and a new start of everything: the way out of a dead end. */
  void startAnew() {
    workers.forEach(Part::kill);
    scheduler.kill();
    scheduler.start();
    workers.forEach(Part::start);
  }

  /** What the processes said last. */
  public String lastWords() {
    StringBuilder text = new StringBuilder();
    text.append("scheduler: ").append(scheduler.lastWords()).append('\n');
    workers.forEach(w -> text.append(w.name()).append(": ").append(w.lastWords()).append('\n'));
    return text.toString();
  }

  /** How often each kind of fault has been done. */
  Map<Faults.Kind, Integer> faultsDone() {
    return faults.counts();
  }

  @Override
  public void close() {
    for (int i = 0; i <= workers.size(); i++) {
      hosts.mend(i);
    }
    workers.forEach(Part::close);
    scheduler.close();
    disks.forEach(Disk::close);
    hosts.close();
  }
}
