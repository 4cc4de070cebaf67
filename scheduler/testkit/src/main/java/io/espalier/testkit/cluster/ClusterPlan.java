package io.espalier.testkit.cluster;

import io.espalier.core.config.Config;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.config.task.Verification;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The plan of a simulated cluster: its size, its work, and its faults. */
final class ClusterPlan {
  private static final int DB_SLOTS = 1;

  /** The index of the level of hosts. */
  private static final int HOST = 1;

  /** One life of so many has enough tasks to fill messages up to their limits. */
  private static final int CROWDED = 200;

  private static final Map<String, Integer> CORES = Map.of("light", 1, "heavy", 2);

  /** Leases that last far longer than a change of leaders. */
  private static final ProtocolTimers LONG =
      new ProtocolTimers(
          3_000, 2_000, 40_000, 6_000, 2_000, 2_000, 4_000, 8_000, 15_000, 10_000, 500, 5_000, 500,
          5_000, 44_000);

  /** The resource of which a batch takes one slot, and how many there are. */
  private static final String LINKS = "links";

  private static final int MOST_LINKS = 4;

  /**
   * A third of all tasks have two descendants on average, and each eighth of these lives longer
   * than its task, for about as long as it takes until its worker counts as lost.
   */
  private static final int TASKS_PER_OUTLIVED = 12;

  private static final Backoff BACKOFF = new Backoff(List.of(1, 3), true);

  private final boolean durable;
  private final boolean elected;
  private final boolean owned;
  private final int workers;
  private final int hosts;
  private final int dbsPerHost;
  private final int concurrency;
  private final int workerSlots;
  private final int hostSlots;
  private final long chaosMillis;
  private final int taskMillis;
  private final ProtocolTimers timers;
  private final ProtocolTimers otherTimers;
  private final boolean steered;

  /** Whether the limit of hosts follows a probe. */
  private final boolean probed;

  private final Program program;

  /** The batches of the light job; empty: it has none. */
  private final Optional<BatchSpec> batch;

  /** How tasks are verified, of all jobs that have no batches; empty: not at all. */
  private final Optional<Verification> verification;

  /** Whether verified jobs have no end, so that they are verified although tasks have failed. */
  private final boolean endless;

  /**
   * A counter that a live invocation increases.
   *
   * @param counter name of the counter
   */
  record Charge(String counter, int slots, int limit) {}

  ClusterPlan(Random random, boolean probed) {
    this.probed = probed;
    int kind = random.nextInt(10);
    durable = kind > 0;
    elected = kind > 4;
    owned = kind == 3 || kind == 4;
    boolean crowded = random.nextInt(CROWDED) == 0;
    workers = crowded ? 2 : 3 + random.nextInt(3);
    boolean patient = !crowded && random.nextBoolean();
    hosts = crowded ? 30 : 4 + random.nextInt(patient ? 3 : 6);
    dbsPerHost = crowded ? 50 : 4 + random.nextInt(patient ? 4 : 8);
    concurrency = crowded ? hosts * dbsPerHost : 8 + random.nextInt(20);
    workerSlots = crowded ? concurrency : 6;
    hostSlots = crowded ? dbsPerHost : 3;
    timers = someTimers(random);
    otherTimers = schedulers() > 1 && random.nextBoolean() ? someTimers(random) : timers;
    chaosMillis = 40_000L + random.nextInt(100_000);
    // Some tasks outlive the lease of their worker and the wait of the next leader.
    int longest = Math.max(30_000, (int) timers.takeoverMillis() * 3 / 2);
    taskMillis = patient ? 5_000 + random.nextInt(longest) : 300 + random.nextInt(5_000);
    steered = random.nextBoolean();
    // A source of its own: without steps, a seed lives as it always has.
    Random ofSteps = new Random(chaosMillis * 31 + taskMillis);
    // The steps after the first one start on slots that the task has.
    program = ofSteps.nextInt(3) == 0 && !probed ? someSteps(ofSteps) : Program.NONE;
    Random ofBatches = new Random(chaosMillis * 37 + taskMillis);
    batch = ofBatches.nextInt(3) == 0 ? Optional.of(someBatch(ofBatches)) : Optional.empty();
    Random ofVerification = new Random(chaosMillis * 41 + taskMillis);
    boolean verified = ofVerification.nextInt(4) == 0;
    verification = verified ? Optional.of(someVerification(ofVerification)) : Optional.empty();
    endless = steered || ofVerification.nextBoolean();
  }

  private static Verification someVerification(Random random) {
    int kind = random.nextInt(3);
    return new Verification(
        step("verify", false),
        kind == 0 ? 100 : kind == 1 ? 30 : 0,
        kind == 2 ? 1 + random.nextInt(20) : 0,
        random.nextInt(3));
  }

  private static BatchSpec someBatch(Random random) {
    return new BatchSpec(
        2 + random.nextInt(4),
        random.nextBoolean() ? Optional.of(HOST) : Optional.empty(),
        BatchSpec.USUAL_WAIT,
        random.nextBoolean() ? List.of(LINKS) : List.of());
  }

  private static Program someSteps(Random random) {
    List<Step> steps = new ArrayList<>();
    List<Step> compensations = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      boolean undoes = random.nextInt(3) == 0;
      steps.add(step(name, undoes));
      if (random.nextBoolean()) {
        compensations.add(step(name, false));
      }
    }
    boolean holds = random.nextInt(3) > 0;
    boolean restarts = random.nextInt(4) == 0;
    return new Program(steps, holds, restarts, compensations, Optional.empty());
  }

  private static Step step(String name, boolean undoes) {
    return new Step(
        name, List.of(name), Optional.empty(), undoes, Optional.empty(), Optional.empty());
  }

  /**
   * Returns the configuration.
   *
   * @param bottom name of the lowest level
   * @param jobs the jobs, each with its creation time
   */
  Config config(String bottom, Map<String, Long> jobs) {
    ConfigFixture fixture =
        new ConfigFixture("host", bottom)
            .resource("instance", "concurrency", concurrency)
            .resource("host", "host_slots", hostSlots)
            .resource(bottom, "db_slots", DB_SLOTS)
            .resource("worker", "cores", workerSlots);
    fixture.resource("instance", LINKS, MOST_LINKS, 0);
    if (probed) {
      fixture.rules(ProbeTrouble.rules(HOST, "host_slots"));
    }
    jobs.forEach((job, created) -> fixture.job(job, job(job, created)));
    return fixture.build();
  }

  private JobFixture job(String name, long created) {
    JobFixture job =
        new JobFixture(name)
            .needs("cores", cores(name))
            .backoff(BACKOFF)
            .limits(limits(name))
            .program(program(name))
            .created(created);
    if (verification(name) != null && endless) {
      job.outcome(
          new OutcomeRules(
              OptionalInt.empty(),
              OptionalDouble.empty(),
              1,
              Optional.empty(),
              OutcomeRules.NEVER));
    }
    if (name.equals("light")) {
      batch.ifPresent(job::batch);
      job.needs(LINKS, sharesLinks() ? 1 : 0);
    }
    return job;
  }

  private boolean sharesLinks() {
    return batch.map(spec -> !spec.perBatch().isEmpty()).orElse(false);
  }

  private Program program(String job) {
    Program own = job.equals("heavy") ? program : Program.NONE;
    Verification how = verification(job);
    if (how == null) {
      return own;
    }
    // Nothing fails for good where a failed task would keep its job from being verified.
    List<Step> steps = own.steps().stream().map(each -> step(each.name(), false)).toList();
    return new Program(
        endless ? own.steps() : steps,
        own.holds(),
        own.restartsFromFirst(),
        endless ? own.compensations() : List.of(),
        Optional.of(how));
  }

  /** Returns how the tasks of a job are verified; null: not at all. */
  @Nullable Verification verification(String job) {
    return batch.isPresent() && job.equals("light") ? null : verification.orElse(null);
  }

  /** Returns whether tasks of a job may fail for good. */
  boolean mayFail(String job) {
    return verification(job) == null || endless;
  }

  /** Returns whether each attempt of a job's tasks begins with the first step. */
  boolean restartsFromFirst(String job) {
    return program(job).restartsFromFirst();
  }

  private static int cores(String job) {
    return CORES.getOrDefault(job, 0);
  }

  /** Returns the names of all jobs. */
  static Set<String> jobs() {
    return CORES.keySet();
  }

  private static ProtocolTimers someTimers(Random random) {
    int kind = random.nextInt(5);
    return kind < 2 ? ProtocolTimers.QUICK : kind == 2 ? LONG : anyFit(random);
  }

  /** Returns timers that barely pass the checks, or pass them with a margin. */
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
   * Returns the longest time that the guard may need to kill, and that its host may sleep beyond
   * the guard's deadline (assumption): half of the time between the deadline and the instant at
   * which the scheduler, with the greatest possible clock drift, considers the worker lost.
   */
  int guardLatency() {
    return Math.min(guardLatency(timers), guardLatency(otherTimers));
  }

  private static int guardLatency(ProtocolTimers of) {
    long apart = of.leaseMillis() * 2 * ProtocolTimers.DRIFT_PERMILLE / 1000;
    return (int) (of.guardMillis() + of.marginMillis() - apart - 50) / 2;
  }

  /** Returns limits under which every fourth attempt of the heavy job takes too long. */
  private TimeLimits limits(String job) {
    return job.equals("heavy")
        ? new TimeLimits(
            Optional.of(Duration.ofMillis(taskMillis * 3L / 2)), Optional.empty(), Optional.empty())
        : TimeLimits.NONE;
  }

  /** Returns whether it is known on which host a task is placed, and that a probe allows it. */
  boolean isProbed() {
    return probed && !steered;
  }

  /** Returns the charges of one live invocation. */
  List<Charge> charges(String job, String node, String shard) {
    if (steered) {
      // After a restart, the needs of a task of a deleted job are unknown.
      return List.of();
    }
    List<Charge> charges = new ArrayList<>(5);
    int db = Integer.parseInt(node.substring(1)) - 1;
    charges.add(new Charge("concurrency", 1, concurrency));
    charges.add(new Charge("host " + db / dbsPerHost, 1, hostSlots));
    charges.add(new Charge("db " + db, 1, DB_SLOTS));
    charges.add(new Charge("worker " + shard, cores(job), workerSlots));
    if (job.equals("light") && sharesLinks()) {
      // A process has a link, and works on one task at a time.
      charges.add(new Charge(LINKS, 1, MOST_LINKS));
    }
    return charges;
  }

  /** Returns whether the status store survives its scheduler. */
  boolean durable() {
    return durable;
  }

  /** Returns whether two schedulers compete for leadership by a lock. */
  boolean elected() {
    return elected;
  }

  /** Returns whether two schedulers use one store without a lock: its owner row decides. */
  boolean owned() {
    return owned;
  }

  /** Returns how long a life may take after the last fault, beside the wait of a new leader. */
  long workMillis() {
    // A task whose verification fails begins again, and so does one that restarts from the first.
    long rounds = verification.isPresent() || program.restartsFromFirst() ? 8 : 1;
    long work = rounds * tasks() * taskMillis;
    if (!sharesLinks()) {
      return work;
    }
    // A batch keeps its link as long as a descendant of its task lives.
    return work + tasks() * timers().lostMillis() / TASKS_PER_OUTLIVED / MOST_LINKS;
  }

  /** Returns the number of schedulers. */
  int schedulers() {
    return elected || owned ? 2 : 1;
  }

  int workers() {
    return workers;
  }

  int tasks() {
    return CORES.size() * hosts * dbsPerHost;
  }

  /** Returns how long faults occur. */
  long chaosMillis() {
    return chaosMillis;
  }

  /** Returns the mean duration of a task. */
  int taskMillis() {
    return taskMillis;
  }

  /** Returns the timers with the longer leases. */
  ProtocolTimers timers() {
    return timers.takeoverMillis() >= otherTimers.takeoverMillis() ? timers : otherTimers;
  }

  /** Returns the timers that a scheduler was started with. */
  ProtocolTimers timers(int scheduler) {
    return scheduler == 0 ? timers : otherTimers;
  }

  /** Returns whether nodes and jobs come and go, and operators command tasks. */
  boolean isSteered() {
    return steered;
  }

  int hosts() {
    return hosts;
  }

  int dbsPerHost() {
    return dbsPerHost;
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
        + (elected ? ", two schedulers" : owned ? ", two without election" : ", one scheduler")
        + (program.steps().isEmpty() ? "" : program.holds() ? ", steps that hold" : ", steps")
        + (program.restartsFromFirst() ? " from the first" : "")
        + verification.map(how -> ", verified: " + how.size(tasks() / CORES.size())).orElse("")
        + batch.map(spec -> ", batches of " + spec.max()).orElse("")
        + (probed ? ", limits that follow a probe" : "")
        + (steered ? ", nodes and jobs that change" : "")
        + ", trouble for "
        + chaosMillis
        + " ms";
  }
}
