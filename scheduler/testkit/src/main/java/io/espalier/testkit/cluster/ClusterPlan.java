package io.espalier.testkit.cluster;

import io.espalier.core.config.Backoff;
import io.espalier.core.config.Config;
import io.espalier.core.config.TimeLimits;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.Trees;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** How big a simulated cluster is, what it has to do, and what befalls it. */
final class ClusterPlan {
  static final int WORKER_SLOTS = 6;

  private static final int HOST_SLOTS = 3;
  private static final int DB_SLOTS = 1;
  private static final Map<String, Integer> CORES = Map.of("light", 1, "heavy", 2);
  private static final Backoff BACKOFF = new Backoff(List.of(1, 3), true);

  private final boolean durable;
  private final boolean elected;
  private final int workers;
  private final int hosts;
  private final int dbsPerHost;
  private final int concurrency;
  private final long chaosMillis;
  private final int taskMillis;
  private final ProtocolTimers timers;
  private final Config config;
  private final Topology topology;

  /**
   * A counter that a live invocation raises.
   *
   * @param counter what is counted
   */
  record Charge(String counter, int slots, int limit) {}

  ClusterPlan(Random random) {
    int kind = random.nextInt(10);
    durable = kind > 0;
    elected = kind > 4;
    workers = 3 + random.nextInt(3);
    boolean patient = random.nextBoolean();
    hosts = 4 + random.nextInt(patient ? 3 : 6);
    dbsPerHost = 4 + random.nextInt(patient ? 4 : 8);
    concurrency = 8 + random.nextInt(20);
    timers = random.nextBoolean() ? ProtocolTimers.QUICK : anyFit(random);
    chaosMillis = 40_000L + random.nextInt(100_000);
    taskMillis = patient ? 5_000 + random.nextInt(30_000) : 300 + random.nextInt(5_000);
    ConfigFixture fixture =
        new ConfigFixture("host", "db")
            .resource("instance", "concurrency", concurrency)
            .resource("host", "host_slots", HOST_SLOTS)
            .resource("db", "db_slots", DB_SLOTS)
            .resource("worker", "cores", WORKER_SLOTS);
    CORES.forEach(
        (job, cores) ->
            fixture.job(
                job,
                new JobFixture(job).needs("cores", cores).backoff(BACKOFF).limits(limits(job))));
    config = fixture.build();
    topology = Trees.regular(fixture.levels(), hosts, dbsPerHost);
  }

  /** Timers that just pass the checks, or pass them with room. */
  private static ProtocolTimers anyFit(Random random) {
    long heartbeat = 1_000L + random.nextInt(3_000);
    long call = 300L + random.nextInt((int) heartbeat / 2);
    long guard = 1L + random.nextInt(2_000);
    long killWait = 1L + random.nextInt(3_000);
    long stop = killWait + guard + room(random, 2_000);
    long lease = stop + 2 * heartbeat + call + room(random, 6_000);
    long margin = ProtocolTimers.leastMargin(lease) + room(random, 3_000);
    long unhealthy = heartbeat + call + room(random, (int) (lease - heartbeat - call));
    long check = 4_000L + random.nextInt(10_000);
    ProtocolTimers any =
        new ProtocolTimers(
            heartbeat,
            call,
            lease,
            stop,
            killWait,
            guard,
            margin,
            unhealthy,
            check,
            10_000,
            200 + random.nextInt(500),
            1_000 + random.nextInt(4_000),
            200 + random.nextInt(500),
            1_000 + random.nextInt(4_000),
            lease + margin + room(random, 5_000));
    if (!any.problems().isEmpty()) {
      throw new IllegalStateException("unfit: " + any.problems());
    }
    return any;
  }

  private static long room(Random random, int most) {
    return random.nextInt(3) == 0 ? 0 : random.nextInt(most);
  }

  /**
   * The longest time that the guard may need to kill, and that its host may sleep beyond the
   * guard's deadline (assumption): half of what is left between the deadline and the instant at
   * which the scheduler, with clocks as far apart as they may be, takes the worker for lost.
   */
  int guardLatency() {
    long apart = timers.leaseMillis() * 2 * ProtocolTimers.DRIFT_PERMILLE / 1000;
    return (int) (timers.guardMillis() + timers.marginMillis() - apart - 50) / 2;
  }

  /** Every fourth attempt of the heavy job takes too long. */
  private TimeLimits limits(String job) {
    return job.equals("heavy")
        ? new TimeLimits(
            Optional.of(Duration.ofMillis(taskMillis * 3L / 2)), Optional.empty(), Optional.empty())
        : TimeLimits.NONE;
  }

  /** The charges of one live invocation. */
  List<Charge> charges(String job, String node, String shard) {
    List<Charge> charges = new ArrayList<>(4);
    int db = Integer.parseInt(node.substring(1)) - 1;
    charges.add(new Charge("concurrency", 1, concurrency));
    charges.add(new Charge("host " + db / dbsPerHost, 1, HOST_SLOTS));
    charges.add(new Charge("db " + db, 1, DB_SLOTS));
    charges.add(new Charge("worker " + shard, CORES.getOrDefault(job, 0), WORKER_SLOTS));
    return charges;
  }

  /** Whether the status store outlives its scheduler. */
  boolean durable() {
    return durable;
  }

  /** Whether two schedulers compete for leadership. */
  boolean elected() {
    return elected;
  }

  int workers() {
    return workers;
  }

  int tasks() {
    return CORES.size() * hosts * dbsPerHost;
  }

  /** How long things go wrong. */
  long chaosMillis() {
    return chaosMillis;
  }

  /** The mean time that a task takes. */
  int taskMillis() {
    return taskMillis;
  }

  ProtocolTimers timers() {
    return timers;
  }

  Config config() {
    return config;
  }

  Topology topology() {
    return topology;
  }

  @Override
  public String toString() {
    return workers
        + " workers, "
        + tasks()
        + " tasks of "
        + taskMillis
        + " ms, lease "
        + timers.leaseMillis()
        + " + "
        + timers.marginMillis()
        + " ms, concurrency "
        + concurrency
        + (durable ? ", durable store" : ", memory store")
        + (elected ? ", two schedulers" : ", one scheduler")
        + ", trouble for "
        + chaosMillis
        + " ms";
  }
}
