package io.espalier.core.scheduling.update;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunBatches;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves the contents of one scheduling state into the next, in slices, while the old state remains
 * in use.
 *
 * <p>It copies the statuses, builds the ready bits and the index, and then carries the running
 * tasks over one by one, each like a start. Tasks that change in the old state meanwhile are logged
 * and copied again at the end, as changes of the complete index. Running tasks that start during
 * the last phases, or that end after they were carried over, do so in both states. When the log is
 * empty, the new state is complete and replaces the old one.
 */
public final class StateMigration {
  private static final int LIMITS = 0;
  private static final int GATES = 1;
  private static final int STATUSES = 2;
  private static final int DETAILS = 3;
  private static final int READY = 4;
  private static final int RATES = 5;
  private static final int INDEX = 6;
  private static final int WORKERS = 7;
  private static final int RUNNING = 8;
  private static final int WAITS = 9;
  private static final int CHANGES = 10;

  // The costs of operations in units. A unit is a word of the index, or a task whose code is
  // copied.

  /** Adding a status with its timer to the table of stored statuses. */
  private static final int PER_DETAIL = 12;

  /** Finding the node of the same name among another job's tasks. */
  private static final int PER_DEPENDENCY = 8;

  /** Visiting a task or an over-limit place anywhere in memory. */
  private static final int PER_LOOK = 12;

  /**
   * Carrying a running task: its names are looked up and its path is charged; words come on top.
   */
  private static final int PER_RUN = 100;

  /** Finding a closed node by its name. */
  private static final int PER_GATE = 30;

  /** Inserting a worker into the trees of all workers and of its host. */
  private static final int PER_WORKER = 250;

  private static final int PER_WAIT = 60;

  /**
   * The size of a phase's first slices, which are small because the JIT has not compiled its code
   * yet.
   */
  private static final int FIRST_UNITS = 500;

  private final UpdatePlan plan;
  private final SchedulingState old;
  private final SchedulingState next;
  private final RunningTasks runs;
  private final LongQueue changed = new LongQueue();

  /** Old nodes from which a token was taken. */
  private final LongQueue charged = new LongQueue();

  /**
   * Places whose usage has exceeded the limit since the migration began, in the old state and in
   * the new one.
   */
  private final LongQueue oldOver = new LongQueue();

  private final LongQueue newOver = new LongQueue();

  /** Nodes that were closed or opened while or after the index was built. */
  private final LongQueue gated = new LongQueue();

  /** Nodes that were closed when the migration began; what changes later is set at once. */
  private final List<Scope> closed;

  private final long begun;
  private final Warmth warmth;
  private final BitSet carried = new BitSet();

  /** Running tasks that were carried over and whose job, node and path have become known. */
  private final BitSet found = new BitSet();

  private int phase;
  private int job;
  private int at;

  /** Counts the slices of each phase over all migrations of a process. */
  public static final class Warmth {
    private final int[] slices = new int[CHANGES + 1];

    /** Returns the maximum number of units of a slice that begins with a phase. */
    int units(int phase, int units) {
      int doublings = slices[phase] >>> 2;
      return doublings > Integer.SIZE - 12 ? units : Math.min(units, FIRST_UNITS << doublings);
    }
  }

  public StateMigration(UpdatePlan plan, SchedulingState next, RunningTasks runs, Warmth warmth) {
    this.plan = plan;
    this.old = plan.base();
    this.next = next;
    this.runs = runs;
    this.warmth = warmth;
    begun = old.clock.now();
    old.logTo(changed, charged);
    old.over.logTo(oldOver);
    next.over.logTo(newOver);
    next.followLimits();
    next.statuses.staged().follow();
    closed = next.gateTable.closed(Scope.Kind.NODE);
    closed.addAll(next.gateTable.closed(Scope.Kind.JOB_ON_NODE));
  }

  public UpdatePlan plan() {
    return plan;
  }

  public SchedulingState next() {
    return next;
  }

  /**
   * @return true when the new state is complete and can replace the old one
   */
  public boolean step(int units) {
    int begins = phase;
    int left = warmth.units(begins, units);
    warmth.slices[begins]++;
    if (phase > INDEX) {
      while (!gated.isEmpty()) {
        next.gateChanged((int) gated.poll());
        left -= PER_LOOK;
      }
      left -= next.limits.step(left, true);
      left -= next.statuses.staged().step(left, next.statuses);
    }
    while (left > 0 && phase < CHANGES) {
      left -=
          switch (phase) {
            case LIMITS -> limits(left);
            case GATES -> gates(left);
            case STATUSES -> statuses(left);
            case DETAILS -> details();
            case READY -> ready(left);
            case RATES -> rates(left);
            case INDEX -> index(left);
            case WORKERS -> worker();
            case RUNNING -> running();
            default -> waits();
          };
    }
    if (phase == CHANGES) {
      while (left > 0 && !changed.isEmpty()) {
        copyAgain(changed.poll());
        left -= PER_LOOK;
      }
      left = takeTokens(left);
      keepOverLimits(left);
    }
    return phase == CHANGES
        && changed.isEmpty()
        && charged.isEmpty()
        && oldOver.isEmpty()
        && newOver.isEmpty()
        && gated.isEmpty()
        && !next.rates.isDue()
        && next.limits.isDone()
        && next.statuses.staged().isDone();
  }

  private void startPhase(int number) {
    phase = number;
    job = 0;
    at = phase == INDEX ? next.topology.size() - 1 : 0;
  }

  /** Copies limits. Limits that change from now on are applied once the index exists. */
  private int limits(int units) {
    int done = next.limits.step(units, false);
    if (next.limits.isDone()) {
      startPhase(GATES);
    }
    return 1 + done;
  }

  private int gates(int units) {
    int stop = Math.min(closed.size(), at + 1 + units / PER_GATE);
    int done = PER_GATE * (stop - at);
    while (at < stop) {
      next.updateGate(closed.get(at++));
    }
    if (at == closed.size()) {
      startPhase(STATUSES);
    }
    return 1 + done;
  }

  /** Copies the codes of the tasks, one job at a time. */
  private int statuses(int units) {
    if (job == next.jobs.count()) {
      startPhase(DETAILS);
      return 1;
    }
    int oldJob = plan.oldJob(job);
    int first = next.tasks.first(job);
    int end = next.tasks.end(job);
    if (oldJob < 0 || first + at >= end) {
      job++;
      at = 0;
      return 1;
    }
    int stop = first + at + Math.min(end - first - at, units);
    for (int node = first + at; node < stop; node++) {
      int oldNode = plan.oldNode(node);
      if (oldNode >= 0) {
        int code = StatusCodes.withEffect(old.tasks.code(oldJob, oldNode), StatusCodes.OPEN);
        if (code != StatusCodes.UNSTARTED) {
          next.tasks.set(job, node, StatusCodes.keepEffect(code, next.tasks.code(job, node)));
        }
      }
    }
    int done = stop - first - at;
    at += done;
    return done;
  }

  private int details() {
    if (old.tasks.details().size() == 0 || at == old.tasks.details().parts()) {
      startPhase(READY);
      return 1;
    }
    return 1 + PER_DETAIL * old.tasks.details().visit(at++, this::copyDetail);
  }

  private void copyDetail(long key, TaskStatus status) {
    int oldJob = TaskTable.job(key);
    int oldNode = TaskTable.node(key);
    int newJob = plan.newJob(oldJob);
    int node = plan.newNode(oldNode);
    if (newJob >= 0 && node >= 0) {
      next.tasks.addDetail(newJob, node, status);
      if (StatusCodes.isWaiting(old.tasks.code(oldJob, oldNode))) {
        next.statuses.await(newJob, node, status);
      }
    }
  }

  private int ready(int units) {
    if (job == next.jobs.count()) {
      startPhase(RATES);
      return 1;
    }
    int first = next.tasks.first(job);
    int end = next.tasks.end(job);
    int each = 1 + PER_DEPENDENCY * next.jobs.dependencies[job].length;
    int stop = first + at + Math.min(end - first - at, 1 + units / each);
    for (int node = first + at; node < stop; node++) {
      next.statuses.presetReady(job, node);
    }
    int done = stop - first - at;
    at += done;
    if (stop == end) {
      job++;
      at = 0;
    }
    return 1 + each * done;
  }

  /** Copies the tokens of the nodes that have buckets. */
  private int rates(int units) {
    int done = 0;
    int count = next.rates.count();
    for (; at < count && done < units; at++) {
      takeOver(next.rates.node(at));
      done += 2;
    }
    if (at == count) {
      startPhase(INDEX);
    }
    return 1 + done;
  }

  private boolean takeOver(int node) {
    int oldNode = plan.oldNode(node);
    int oldLevel = oldNode < 0 ? -1 : old.index.level(oldNode);
    return next.rates.takeOver(node, next.index.level(node), old.rates, oldNode, oldLevel, begun);
  }

  /**
   * Copies the tokens of nodes that were charged meanwhile, and opens nodes that have a token
   * again.
   *
   * @return the remaining units
   */
  private int takeTokens(int units) {
    int left = units;
    while (left > 0 && !charged.isEmpty()) {
      int node = plan.newNode((int) charged.poll());
      if (node >= 0 && takeOver(node)) {
        next.index.refresh(node, next.index.level(node));
      }
      left -= PER_LOOK;
    }
    return left > 0 ? left - PER_LOOK * next.rates.advance(1 + left / PER_LOOK, next.index) : left;
  }

  private int index(int units) {
    int done = 0;
    while (at >= 0 && done < units) {
      next.index.build(at--);
      done += 2 * next.jobs.words;
    }
    if (at < 0) {
      startPhase(WORKERS);
    }
    return done;
  }

  private int worker() {
    if (at == next.pool.high()) {
      startPhase(RUNNING);
      return 1;
    }
    next.workers.put(at++);
    return PER_WORKER;
  }

  private int running() {
    if (at >= runs.high()) {
      startPhase(WAITS);
      return 1;
    }
    int run = at++;
    if (runs.isUsed(run) && !carried.get(run)) {
      carry(run);
      return PER_RUN + 4 * next.jobs.words;
    }
    return 1;
  }

  /** Copies since when jobs have been waiting for slots. */
  private int waits() {
    if (next.reservations == null || old.reservations == null || at == old.reservations.parts()) {
      phase = CHANGES;
      return 1;
    }
    return 1 + PER_WAIT * next.reservations.carry(old.reservations, plan, at++);
  }

  /** Closes or opens a node according to its gates. */
  public void updateGate(Scope scope) {
    int node = next.updateGate(scope);
    if (node >= 0 && phase >= INDEX) {
      gated.add(node);
    }
  }

  /** Applies a change of a worker. */
  public void workerChanged(int worker) {
    if (phase > WORKERS || (phase == WORKERS && worker < at)) {
      next.workers.put(worker);
    }
  }

  /** Carries over a task that was started in the old state. */
  public void started(int run) {
    if (phase >= RUNNING) {
      carry(run);
      next.occupancy.startedBefore(run);
    }
  }

  /**
   * Moves what the tasks of a batch share in the new state, as far as they were carried over.
   *
   * @param to {@link RunBatches#NONE}: to a task that is about to be carried over
   */
  public void moveShared(int from, int to, ResourceCharges shared) {
    next.occupancy.moveShared(
        carried.get(from) ? from : RunBatches.NONE,
        to >= 0 && carried.get(to) ? to : RunBatches.NONE,
        shared);
  }

  /** Returns whether a running task was carried over and is charged on a node. */
  public boolean isPlaced(int run) {
    return carried.get(run) && next.places.isPlaced(run);
  }

  /** Ends, in the new state, a running task that is about to end in the old one. */
  public void ending(int run, @Nullable TaskStatus status, long nowMillis) {
    if (carried.get(run)) {
      carried.clear(run);
      found.clear(run);
      // The statuses of new tasks are loaded from the store. This end is stored by then, and so is
      // everything that happens to the task in the old state afterwards.
      int job = old.places.job(run);
      boolean isNew = job < 0 || plan.newJob(job) < 0;
      next.occupancy.finish(run, isNew ? null : status, nowMillis);
    }
  }

  private void carry(int run) {
    carried.set(run);
    Topology topology = next.topology;
    Levels levels = topology.levels();
    int[] path = new int[levels.count()];
    Arrays.fill(path, -1);
    boolean whole = true;
    int worker = old.places.worker(run);
    RunningTasks.NamedPath names = runs.names(run);
    int newJob = next.jobs.find(RunNames.job(old, runs, run));
    if (newJob < 0) {
      next.occupancy.carryOutside(run, -1, worker);
      next.places.setOrphan(run, true);
      return;
    }
    if (names != null && !names.isUnknown()) {
      for (int i = 0; i < names.nodes().size(); i++) {
        int level = levels.find(names.levels().get(i));
        if (level >= 0 && level < levels.worker()) {
          path[level] = topology.find(level, names.nodes().get(i));
        }
      }
    } else if (names == null) {
      Levels oldLevels = old.topology.levels();
      for (int l = 0; l < oldLevels.count(); l++) {
        int node = old.places.node(run, l);
        if (node >= 0) {
          int level = levels.find(oldLevels.name(l));
          int newNode = level < 0 ? -1 : plan.newNode(node);
          if (newNode >= 0) {
            path[level] = newNode;
          }
          whole &= newNode >= 0;
        }
      }
    }
    if (!whole) {
      runs.setCharges(run, RunNames.charges(old, runs, run));
      runs.setNames(run, RunNames.nodesInForce(old, run));
    }
    String name = RunNames.node(old, runs, run);
    int level = next.jobs.levels[newJob];
    int node = level < 0 || level >= levels.worker() ? -1 : topology.find(level, name);
    if (names != null && names.isUnknown()) {
      carryUnknown(run, newJob, node, worker);
    } else {
      int[] amounts =
          RunNames.amounts(old, runs, run, levels, next.config().settings().resources());
      next.occupancy.carry(run, newJob, node, path, amounts, worker);
    }
    next.places.setOrphan(run, next.whereabouts.isOrphan(run, name));
  }

  /**
   * Carries over a task that was adopted while its job or node was unknown; they may be known now.
   */
  private void carryUnknown(int run, int newJob, int node, int worker) {
    if (node >= 0 && next.jobs.job(newJob) != null) {
      next.occupancy.carryAnew(run, newJob, node, worker);
      found.set(run);
    } else {
      next.occupancy.carryOutside(run, newJob, worker);
    }
  }

  private void copyAgain(long key) {
    int oldJob = TaskTable.job(key);
    int oldNode = TaskTable.node(key);
    int newJob = plan.newJob(oldJob);
    int node = plan.newNode(oldNode);
    if (newJob >= 0 && node >= 0) {
      int code = StatusCodes.withEffect(old.tasks.code(oldJob, oldNode), StatusCodes.OPEN);
      next.statuses.copy(newJob, node, code, old.tasks.detail(oldJob, oldNode));
    }
  }

  /** Copies since when usage has exceeded the limit at places that are over it in both states. */
  private void keepOverLimits(int units) {
    for (int left = units; left > 0 && !newOver.isEmpty(); left -= PER_LOOK) {
      long key = newOver.poll();
      keepSince(OverLimitTracker.resource(key), OverLimitTracker.place(key), true);
    }
    for (int left = units; left > 0 && !oldOver.isEmpty(); left -= PER_LOOK) {
      long key = oldOver.poll();
      keepSince(OverLimitTracker.resource(key), OverLimitTracker.place(key), false);
    }
  }

  /**
   * Copies the over-limit start of a place from the old state to the new one, if it exceeds the
   * limit there.
   *
   * @param isNew whether resource and place are numbers of the new state
   */
  private void keepSince(int resource, int place, boolean isNew) {
    SchedulingState from = isNew ? next : old;
    SchedulingState to = isNew ? old : next;
    Resource known = from.config().settings().resources().get(resource);
    Resource same = to.config().settings().resources().find(known.name());
    Levels levels = from.topology.levels();
    if (same == null
        || !levels.name(known.level()).equals(to.topology.levels().name(same.level()))) {
      return;
    }
    int other = place;
    if (known.level() != levels.worker()) {
      int node = from.ledger.nodeOf(place, known.level());
      int otherNode = isNew ? plan.oldNode(node) : plan.newNode(node);
      if (otherNode < 0) {
        return;
      }
      other = to.ledger.place(otherNode, same.level(), same.index());
    }
    Long since = isNew ? old.over.since(same.index(), other) : old.over.since(resource, place);
    if (since != null && isNew) {
      next.over.setSince(resource, place, since);
    } else if (since != null) {
      next.over.setSince(same.index(), other, since);
    }
  }

  /** Stops logging in the old state. */
  public void end() {
    old.logTo(null, null);
    old.over.logTo(null);
    next.over.logTo(null);
    next.workers.goOnAfter(old.workers);
    next.caps.goOnAfter(old.caps);
    runs.found(found);
    for (int j = 0; j < next.jobs.count(); j++) {
      next.occupancy.dropIfIdle(j);
    }
  }
}
