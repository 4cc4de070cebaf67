package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Drives a scheduling core and the oracle through the same random events, and compares the answers
 * to all queries. Everything derives from the seed.
 */
public final class RandomRun {
  private final Random random;
  private final RandomModel model;
  private final RandomStatuses statuses;
  private final SchedulingCore core;
  private final Oracle oracle;
  private final BatchChecks batches;
  private final PlacementChecks checks;
  private final CoreComparison comparison;
  private final RandomSteering steering;
  private final List<SchedulingPolicy> policies;
  private final Map<String, WorkerSelector> selectors = new TreeMap<>();
  private final Runner runner;

  /**
   * The content of a status store: every status ever given, including those of removed jobs and
   * nodes.
   */
  private final Map<TaskKey, TaskStatus> store = new HashMap<>();

  private final Map<TaskKey, Long> runs = new LinkedHashMap<>();
  private final List<String> placements = new ArrayList<>();

  /** The events that the core has processed. */
  private final List<CoreEvent> recording = new ArrayList<>();

  private final long seed;
  private final RunSize size;
  private final boolean busy;
  private final UnaryOperator<GroupRule> told;
  private long stateNumber;
  private long now = 1_000_003;

  /** The kind of task runner. */
  private enum Runner {
    NOBODY_ASKS,
    SELF,
    POOL
  }

  public RandomRun(long seed, RunSize size, List<SchedulingPolicy> policies) {
    this(seed, size, policies, TestSelectors.ALL);
  }

  /**
   * @param selectors the settings name one of them
   */
  public RandomRun(
      long seed, RunSize size, List<SchedulingPolicy> policies, List<WorkerSelector> selectors) {
    this(seed, size, policies, selectors, UnaryOperator.identity());
  }

  /**
   * @param told what the core is told of a kind of redundancy groups; the oracle knows the truth,
   *     so that it must find a difference when this is none
   */
  public RandomRun(
      long seed,
      RunSize size,
      List<SchedulingPolicy> policies,
      List<WorkerSelector> selectors,
      UnaryOperator<GroupRule> told) {
    this.told = told;
    this.seed = seed;
    this.size = size;
    random = new Random(seed);
    statuses = new RandomStatuses(random, size.verified());
    this.policies = policies;
    selectors.forEach(selector -> this.selectors.put(selector.name(), selector));
    model =
        new RandomModel(
            random,
            size.jobs(),
            size.nodesPerLevel(),
            List.copyOf(this.selectors.keySet()),
            size.scarce(),
            size.grouped(),
            size.batched());
    busy = size.compareEvery() > 1 || model.isTight();
    core = new SchedulingCore(seed, this.selectors);
    core.recordTo(recording::add);
    runner = Runner.values()[Math.max(0, random.nextInt(6) - 3)];
    oracle = new Oracle(model.config(), model.topology());
    batches = new BatchChecks(oracle, size.grouped());
    boolean isPool = runner == Runner.POOL;
    checks = new PlacementChecks(core, oracle, batches, this.selectors, isPool);
    comparison = new CoreComparison(core, oracle, batches, random, runs, isPool, size.grouped());
    steering = new RandomSteering(core, oracle, random, new Random(~seed), isPool);
    workers();
    core.apply(model.config(told), model.topology(), now);
    oracle.advance(now);
    comparison.compare(now);
    for (int i = 0; i < size.steps(); i++) {
      step();
      if (i % size.compareEvery() == size.compareEvery() - 1) {
        comparison.compare(now);
      }
    }
    comparison.compare(now);
  }

  /** Returns the started tasks, in order. */
  public List<String> placements() {
    return placements;
  }

  /** Returns the events that the core has processed, in order. */
  public List<CoreEvent> recording() {
    return recording;
  }

  /**
   * Replays all events on another core.
   *
   * @throws Replay.DifferenceException at the first difference
   */
  public Replay.Summary replay(Iterator<CoreEvent> events) {
    Map<String, SchedulingPolicy> byName = new HashMap<>();
    policies.forEach(policy -> byName.put(policy.name(), policy));
    SchedulingPolicy looking = CoreComparison.looking(new HashSet<>());
    byName.put(looking.name(), looking);
    return new Replay(new SchedulingCore(seed, selectors), byName, events).run();
  }

  private void step() {
    if (busy && random.nextInt(4) > 0) {
      turnOver();
      return;
    }
    if (size.closing() && random.nextInt(5) == 0) {
      steering.closeNodes(now);
      oracle.reservations().observe(core.capacity().reservations(), now);
      return;
    }
    switch (random.nextInt(18)) {
      case 16, 17 -> overrideLimits();
      case 0, 1, 2, 3 -> round();
      case 4, 5, 6, 7 -> finishSome();
      case 8 -> setStatus();
      case 9, 10 -> advance();
      case 11 -> pause();
      case 12 -> workers();
      case 13 -> adopt();
      case 14 -> change();
      default -> changeInSlices();
    }
  }

  /** Ends tasks that may start again, and forgives others, so that work never runs out. */
  private void turnOver() {
    for (int i = random.nextInt(6); i >= 0 && !runs.isEmpty(); i--) {
      List<TaskKey> all = new ArrayList<>(runs.keySet());
      finish(
          all.get(random.nextInt(all.size())), random.nextInt(8) == 0 ? statuses.any(now) : null);
    }
    TaskKey task = anyTask();
    if (task != null && !oracle.running().containsKey(task)) {
      core.setStatus(core.findJob(task.job()), node(task), null);
      oracle.setStatus(task, null);
      keep(task, null);
    }
    if (size.scarce()) {
      advance();
    }
    round();
  }

  // ---- rounds

  private void round() {
    if (size.closing()) {
      steering.confirmStarts();
    }
    observe();
    SchedulingPolicy policy = policies.get(random.nextInt(policies.size()));
    boolean whole = random.nextInt(3) > 0;
    boolean complete = slice(policy);
    while (!complete && whole) {
      observe();
      complete = slice(policy);
    }
    observe();
    if (complete) {
      assertThat(batches.eligible(core, now)).as("locally maximal").isEmpty();
    }
  }

  /** Shows the reservations of the core to the oracle. */
  private void observe() {
    oracle.reservations().observe(core.capacity().reservations(), now);
    oracle.rooms().observe(core.capacity().keptRoom(), now);
  }

  private boolean slice(SchedulingPolicy policy) {
    oracle.reservations().beginRound();
    oracle.rooms().beginRound();
    int most = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(5);
    batches.sliceBegins();
    PlacementListener.OfBatches listener = this::placed;
    boolean complete = core.round(policy, most, listener);
    oracle.reservations().roundOver(core.capacity().reservations(), now);
    return complete;
  }

  private void placed(long run, long batch) {
    TaskKey task = new TaskKey(core.running().jobName(run), core.running().nodeName(run));
    List<Place> path = checks.path(run);
    WorkerInfo worker = core.running().worker(run);
    placements.add(task + " " + path + " " + worker);
    checks.check(task, path, run, batch);
    runs.put(task, run);
    starts(task, path, worker == null ? null : worker.ref().shard());
    oracle.takeTokens(task, path);
    oracle.reservations().duringRound(core.capacity().reservations());
    oracle.rooms().duringRound(core.capacity().keptRoom());
    if (size.closing()) {
      steering.mayFill(task.job(), worker);
    }
    if (random.nextBoolean()) {
      core.setStatus(
          core.running().job(run), core.running().node(run), statuses.of(Main.RUNNING, now));
    }
  }

  /** A task that the core has started, or knows to run, starts in the oracle. */
  private void starts(TaskKey task, List<Place> path, @Nullable String shard) {
    joins(task);
    oracle.start(task, path, shard);
  }

  /** Adds a task to the batch with whose tasks it shares a charge, if there is one. */
  private void joins(TaskKey task) {
    long run = Objects.requireNonNull(runs.get(task));
    String batch = core.running().batch(run);
    if (!batch.isEmpty()) {
      oracle.batches().add(task, batch);
      if (core.running().isCarrier(run) && oracle.isKnown(task)) {
        oracle.batches().carries(task);
      }
    }
  }

  private void adopt() {
    TaskKey task = random.nextInt(3) == 0 ? unknownTask() : anyTask();
    if (task == null) {
      return;
    }
    if (!size.batched() || random.nextInt(3) == 0) {
      adopt(task, "");
      return;
    }
    String batch = task.job() + "." + random.nextInt(2);
    adopt(task, batch);
    Job job = oracle.config().job(task.job());
    List<TaskKey> others = job == null ? List.of() : oracle.tasks(job);
    for (int i = random.nextInt(4); i > 0 && !others.isEmpty(); i--) {
      adopt(others.get(random.nextInt(others.size())), batch);
    }
  }

  private void adopt(TaskKey task, String batch) {
    if (oracle.running().containsKey(task)) {
      return;
    }
    WorkerRef worker =
        runner == Runner.POOL && random.nextInt(4) > 0
            ? new WorkerRef(random.nextInt(5) == 0 ? "lost" : "w" + random.nextInt(6), 1)
            : WorkerRef.LOCAL;
    String shard = worker.isLocal() ? null : worker.shard();
    long run = core.adopt(task.job(), task.node(), worker, batch);
    runs.put(task, run);
    if (oracle.isKnown(task)) {
      starts(task, checks.path(run), shard);
    } else {
      joins(task);
      oracle.startOutside(task, shard);
    }
  }

  /** Returns a task of a job or a node that may exist one day. */
  private TaskKey unknownTask() {
    return new TaskKey(
        "job" + random.nextInt(9), "n" + random.nextInt(4) + "_" + random.nextInt(12));
  }

  private void workers() {
    if (runner != Runner.NOBODY_ASKS) {
      List<WorkerInfo> pool = runner == Runner.SELF ? List.of(model.self()) : model.pool();
      core.workers(pool);
      oracle.workers(pool);
    }
  }

  // ---- statuses

  private @Nullable TaskKey anyTask() {
    List<Job> jobs = new ArrayList<>(oracle.config().jobs().values());
    Job job = jobs.get(random.nextInt(jobs.size()));
    List<TaskKey> tasks = oracle.tasks(job);
    return tasks.isEmpty() ? null : tasks.get(random.nextInt(tasks.size()));
  }

  private int node(TaskKey task) {
    Job job = oracle.config().job(task.job());
    return job == null ? -1 : core.topology().find(job.level(), task.node());
  }

  private void keep(TaskKey task, @Nullable TaskStatus status) {
    if (status == null) {
      store.remove(task);
    } else {
      store.put(task, status);
    }
  }

  private void setStatus() {
    TaskKey task = anyTask();
    if (task != null && !oracle.running().containsKey(task)) {
      TaskStatus status = statuses.any(now);
      core.setStatus(core.findJob(task.job()), node(task), status);
      oracle.setStatus(task, status);
      keep(task, status);
    }
  }

  /** Steps of tasks end: they keep what they are charged for, or else end. */
  private void goOn() {
    for (TaskKey task : List.copyOf(runs.keySet())) {
      boolean may = core.running().mayGoOn(Objects.requireNonNull(runs.get(task)));
      // Whether a whole job is done is looked at before the next round.
      if (!oracle.steps().waitsForJobs(task.job()) && !hasWaited(task.job())) {
        assertThat(may).as("%s may go on", task).isEqualTo(oracle.steps().mayGoOn(task));
      }
      if (!may && random.nextInt(3) == 0) {
        finish(task, TaskStatus.of(TaskStatus.Main.INCOMPLETE, now, 1));
      }
    }
  }

  private boolean hasWaited(String job) {
    Job configured = oracle.config().job(job);
    return configured != null && !configured.afterJobs().isEmpty();
  }

  private void finishSome() {
    if (random.nextInt(4) == 0) {
      goOn();
    }
    for (int i = random.nextInt(4); i >= 0 && !runs.isEmpty(); i--) {
      List<TaskKey> all = new ArrayList<>(runs.keySet());
      finish(all.get(random.nextInt(all.size())));
    }
  }

  private void finish(TaskKey task) {
    finish(task, statuses.any(now));
  }

  private void finish(TaskKey task, @Nullable TaskStatus status) {
    Long run = runs.remove(task);
    if (run != null) {
      batches.ending(task, checks.path(run), core.running().worker(run));
      core.finish(run, status);
      oracle.batches().ending(task, carrierOf(oracle.batches().others(task)));
      oracle.finish(task, status);
      keep(task, status);
    }
  }

  private @Nullable TaskKey carrierOf(List<TaskKey> tasks) {
    return tasks.stream()
        .filter(task -> core.running().isCarrier(Objects.requireNonNull(runs.get(task))))
        .findFirst()
        .orElse(null);
  }

  private void advance() {
    now += random.nextInt(2500);
    int slices = 1;
    while (!core.advance(now, 1 + random.nextInt(3))) {
      slices++;
    }
    oracle.advance(now);
    oracle.rooms().advanced(now);
    oracle.reservations().advanced(core.capacity().reservations(), now, slices == 1);
    assertThat(core.nextTimerMillis()).isGreaterThan(now);
  }

  private void pause() {
    String job = "job" + random.nextInt(5);
    if (random.nextInt(3) == 0) {
      core.gates().close(Gate.of(GateKind.PAUSE, job, ""));
    } else {
      core.gates().open(GateKind.PAUSE, job);
    }
    oracle.pause(job, core.gates().get(GateKind.PAUSE, job) != null);
    oracle.closings().change(random, core, "job" + random.nextInt(5));
  }

  // ---- limits

  /** Overrides the limits of a node, a worker or a level that exists or may exist one day. */
  private void overrideLimits() {
    oracle.overLimits().slices(now);
    for (int i = random.nextInt(3); i >= 0; i--) {
      LimitOverride.Key key = steering.anyLimit();
      List<LimitOverride> all = core.capacity().overrides();
      if (!all.isEmpty() && random.nextInt(3) == 0) {
        key = all.get(random.nextInt(all.size())).key();
      }
      if (random.nextInt(3) == 0) {
        core.limits().endOverride(key);
        oracle.slots().override(key, null);
      } else {
        int limit = random.nextInt(6);
        core.limits()
            .override(
                new LimitOverride(key.level(), key.resource(), key.node(), limit, "", "", now, 0));
        oracle.slots().override(key, limit);
      }
      if (size.closing()) {
        steering.limits(now);
      }
    }
    if (size.staged()) {
      steering.stages();
    }
    int overlapping = 0;
    while (!core.stepLimits(1 + random.nextInt(30))) {
      // Until the stages are in effect, tasks may be ready that are to wait.
      if (core.staged().areInEffect()) {
        core.verify();
      }
      if (random.nextInt(3) == 0) {
        finishKnown();
      }
      if (size.closing() && overlapping < 3 && random.nextInt(4) == 0) {
        steering.closeNodes(now);
        steering.limits(now);
        if (size.staged()) {
          steering.stages();
        }
        overlapping++;
      }
    }
    oracle.overLimits().sliced();
    if (size.closing()) {
      oracle.reservations().observe(core.capacity().reservations(), now);
    }
  }

  /**
   * Ends tasks of configured jobs only: preparing an update decides about a job that returns while
   * its last task ends.
   */
  private void finishKnown() {
    for (TaskKey task : List.copyOf(runs.keySet())) {
      if (oracle.config().job(task.job()) != null && random.nextInt(3) == 0) {
        finish(task);
      }
    }
  }

  // ---- updates

  private void change() {
    int changes = 1 + random.nextInt(3);
    for (int i = 0; i < changes; i++) {
      model.change();
    }
    if (random.nextInt(4) == 0) {
      model.changeRates();
    }
    if (random.nextInt(4) == 0) {
      model.changeKills();
    }
    oracle.begin();
    NewTasks news = core.apply(model.config(told), model.topology(), now);
    changed(news);
  }

  private void changeInSlices() {
    model.change();
    UpdatePlan change = core.prepare(model.config(told), model.topology());
    core.begin(change);
    oracle.begin();
    NewTasks news = core.step(1 + random.nextInt(600));
    while (news == null) {
      if (size.closing() && random.nextInt(4) == 0) {
        steering.closeNodes(now);
      }
      switch (random.nextInt(8)) {
        case 7 -> overrideLimits();
        case 0 -> round();
        case 1, 2 -> finishKnown();
        case 3 -> setStatus();
        case 4 -> advance();
        case 5 -> workers();
        default -> adopt();
      }
      core.verify();
      observe();
      news = core.step(1 + random.nextInt(600));
    }
    while (!core.stepOrphans(1 + random.nextInt(60))) {
      core.verify();
    }
    changed(news);
  }

  /** Gives new tasks their stored statuses, as a loop would. */
  private void changed(NewTasks news) {
    oracle.overLimits().slicesOfChange();
    oracle.apply(model.config(), model.topology());
    for (Oracle.Run run : List.copyOf(oracle.running().values())) {
      if (run.path().isEmpty() && oracle.isKnown(run.task())) {
        joins(run.task());
        oracle.settle(run.task(), checks.path(runs.getOrDefault(run.task(), -1L)));
      }
    }
    oracle.overLimits().sliced();
    if (stateNumber != core.stateNumber()) {
      stateNumber = core.stateNumber();
      oracle.reservations().changed(now);
    }
    for (Job job : oracle.config().jobs().values()) {
      for (TaskKey task : oracle.tasks(job)) {
        TaskStatus stored = store.get(task);
        if (oracle.status(task) == null && stored != null && !oracle.running().containsKey(task)) {
          oracle.setStatus(task, stored);
        }
      }
    }
    for (String job : news.jobs()) {
      oracle.tasks(PlacementChecks.configured(oracle, job)).forEach(this::load);
    }
    for (NewTasks.NewNodes nodes : news.nodes()) {
      for (String job : nodes.jobs()) {
        if (core.job(core.findJob(job)) != null) {
          for (int node : nodes.nodes()) {
            load(new TaskKey(job, core.topology().name(node)));
          }
        }
      }
    }
  }

  private void load(TaskKey task) {
    TaskStatus stored = store.get(task);
    if (stored != null && !oracle.running().containsKey(task)) {
      core.setStatus(core.findJob(task.job()), node(task), stored);
    }
  }
}
