package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.util.TimerHeap;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The statuses of the tasks of one scheduling state, and their consequences: whether the task may
 * start, whether its dependants may, the counts, and the end of its back-off. Callers that write a
 * status need not know what depends on it. The index is up to date when a call returns, except for
 * the task's own node where the contract says so.
 */
public final class TaskStatuses {
  private static final boolean[] READY = new boolean[StatusCodes.COUNT];
  private static final boolean[] DONE = new boolean[StatusCodes.COUNT];
  private static final boolean[] HAS_DETAIL = new boolean[StatusCodes.COUNT];
  private static final boolean[] UNSTARTED = new boolean[StatusCodes.COUNT];

  static {
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      READY[code] = StatusCodes.isReady(code);
      DONE[code] = StatusCodes.isDone(code);
      HAS_DETAIL[code] = StatusCodes.hasDetail(code);
      UNSTARTED[code] = StatusCodes.main(code) == Main.UNSTARTED;
    }
  }

  private final Topology topology;
  private final JobTable jobs;
  private final TaskTable tasks;
  private final StartableIndex index;
  private final WholeJobDependencies wholeJobs;
  private final StatusHistograms histograms;
  private final RunningTasks runs;
  private final RunPlacements places;
  private final TimerHeap timers;
  private final ReleaseTimes releases;

  /** The tasks that wait for a later stage. */
  private final StagedTasks staged;

  /** Records every task that changes while the next state is being built. */
  private @Nullable LongQueue log;

  public TaskStatuses(
      Topology topology,
      JobTable jobs,
      TaskTable tasks,
      StartableIndex index,
      WholeJobDependencies wholeJobs,
      StatusHistograms histograms,
      RunningTasks runs,
      RunPlacements places,
      GateTable gates,
      RateLimiterClock clock) {
    this.topology = topology;
    this.jobs = jobs;
    this.tasks = tasks;
    this.index = index;
    this.wholeJobs = wholeJobs;
    this.histograms = histograms;
    this.runs = runs;
    this.places = places;
    timers = new TimerHeap(this::isWaitingFor);
    releases = new ReleaseTimes(jobs.count(), tasks, clock);
    staged = new StagedTasks(topology, jobs, tasks, gates);
  }

  public void logTo(@Nullable LongQueue queue) {
    log = queue;
  }

  // ---- one status

  /**
   * Returns the status of a task. While the task runs, this is the status last given to {@link
   * #set}, or else its status before the start. Also null for a plainly done task.
   */
  public @Nullable TaskStatus of(int job, int node) {
    int code = tasks.code(job, node);
    if (HAS_DETAIL[code]) {
      return tasks.detail(job, node);
    }
    int run = StatusCodes.isRunning(code) ? places.find(job, node) : -1;
    return run < 0 ? null : runs.status(run);
  }

  /** Sets the status of a task and updates the index. */
  public void set(int job, int node, @Nullable TaskStatus status, long nowMillis) {
    int code = tasks.code(job, node);
    if (StatusCodes.isRunning(code)) {
      runs.setStatus(places.find(job, node), status);
      return;
    }
    if (HAS_DETAIL[code]) {
      tasks.removeDetail(job, node);
    }
    if (assign(job, node, status, nowMillis)) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
  }

  /**
   * Sets the status of a task that has none stored, without updating the index at the node itself.
   *
   * @return whether the caller must refresh that node, because the task's own ready bit has changed
   */
  public boolean assign(int job, int node, @Nullable TaskStatus status, long nowMillis) {
    long end = waitEnd(status);
    boolean waiting = end * Ticks.MILLIS > nowMillis;
    int code = StatusCodes.of(status, waiting);
    if (status != null && HAS_DETAIL[code]) {
      tasks.addDetail(job, node, status);
    }
    if (waiting) {
      timers.add(TaskTable.key(job, node), end);
    }
    return write(job, node, StatusCodes.keepEffect(code, tasks.code(job, node)));
  }

  /**
   * Marks the task as running under a number, which takes over the previous status.
   *
   * @return as {@link #assign}
   */
  public boolean started(int job, int node, int run) {
    int before = tasks.code(job, node);
    if (HAS_DETAIL[before]) {
      runs.setStatus(run, tasks.detail(job, node));
      tasks.removeDetail(job, node);
    }
    return write(job, node, StatusCodes.keepEffect(StatusCodes.RUNNING, before));
  }

  /**
   * Marks a task as running that was started in the previous state; its status is already stored
   * with its number.
   */
  public void carried(int job, int node) {
    tasks.removeDetail(job, node);
    if (write(job, node, StatusCodes.keepEffect(StatusCodes.RUNNING, tasks.code(job, node)))) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
  }

  /**
   * Copies the status of a task from the previous state when the index is already complete.
   *
   * @param detail null: there is none, or the task is running
   */
  public void copy(int job, int node, int code, @Nullable TaskStatus detail) {
    // The detail copied earlier may not match the code that was copied earlier.
    tasks.removeDetail(job, node);
    if (detail != null) {
      tasks.addDetail(job, node, detail);
    }
    if (StatusCodes.isWaiting(code)) {
      await(job, node, detail);
    }
    if (write(job, node, StatusCodes.keepEffect(code, tasks.code(job, node)))) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
  }

  /**
   * Writes a code and updates its consequences: counts, histogram and dependants.
   *
   * @return whether the task's own ready bit changed, so that its node must be refreshed
   */
  private boolean write(int job, int node, int code) {
    if (log != null) {
      log.add(TaskTable.key(job, node));
    }
    int before = tasks.set(job, node, code);
    if (before == code) {
      return false;
    }
    histograms.touch(job, node);
    if (UNSTARTED[code] && !UNSTARTED[before] && !StatusCodes.isRunning(before)) {
      releases.released(job, node);
    }
    if (DONE[before] != DONE[code]) {
      wholeJobs.touch(job);
      for (int dependant : jobs.dependants[job]) {
        int other = sameName(job, node, dependant);
        if (other >= 0 && updateReady(dependant, other)) {
          if (DONE[code]) {
            releases.released(dependant, other);
          }
          if (dependant != job || other != node) {
            index.refresh(other, jobs.levels[dependant], dependant >>> 6);
          }
        }
      }
    }
    return READY[before] != READY[code] && updateReady(job, node);
  }

  /**
   * Returns how long ago the last task on which this one depends was done, or this one was reset to
   * never tried, in milliseconds; {@link Long#MAX_VALUE}: neither was, or it is not known.
   */
  public long releasedAgoMillis(int job, int node) {
    return releases.agoMillis(job, node);
  }

  /** Returns whether {@link #releasedAgoMillis} is known of any task of the job. */
  public boolean hasReleases(int job) {
    return releases.hasAny(job);
  }

  // ---- whether a task may start

  private boolean updateReady(int job, int node) {
    boolean on = isReady(job, node);
    boolean changed = index.setReady(node, job, on);
    if (changed && jobs.dependencies[job].length > 0) {
      tasks.startable(job, node, on);
    }
    return changed;
  }

  /** Sets the ready bit of a task before the index is built. */
  public void presetReady(int job, int node) {
    if (isReady(job, node)
        && index.setReady(node, job, true)
        && jobs.dependencies[job].length > 0) {
      tasks.startable(job, node, true);
    }
  }

  /** Returns whether status, dependencies and stage let the task start. */
  public boolean isReady(int job, int node) {
    return READY[tasks.code(job, node)] && dependenciesDone(job, node) && staged.isOpen(job, node);
  }

  /** Returns which tasks wait for a later stage. */
  public StagedTasks staged() {
    return staged;
  }

  /** Updates the index after the stage of a task may have been opened or closed. */
  boolean stageChanged(int job, int node) {
    boolean changed = updateReady(job, node);
    if (changed) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
    return changed;
  }

  private boolean dependenciesDone(int job, int node) {
    for (int dependency : jobs.dependencies[job]) {
      if (!isDependencyDone(job, node, dependency)) {
        return false;
      }
    }
    return true;
  }

  /**
   * @param dependency the job number, -1: not configured
   */
  public boolean isDependencyDone(int job, int node, int dependency) {
    if (dependency < 0) {
      return false;
    }
    int other = sameName(job, node, dependency);
    return other >= 0 && DONE[tasks.code(dependency, other)];
  }

  /** Returns the node of the same name among another job's tasks, or -1. */
  public int sameName(int job, int node, int otherJob) {
    int level = jobs.levels[otherJob];
    if (level == jobs.levels[job]) {
      return node;
    }
    return level < 0 ? -1 : topology.find(level, topology.name(node));
  }

  // ---- back-offs

  /** Returns the first tick at which a status is no longer waiting; 0: it does not wait. */
  private static long waitEnd(@Nullable TaskStatus status) {
    long end = status == null ? 0 : status.readyAtMillis();
    return Ticks.ceil(end);
  }

  private boolean isWaitingFor(long task, long tick) {
    int job = TaskTable.job(task);
    int node = TaskTable.node(task);
    return StatusCodes.isWaiting(tasks.code(job, node)) && waitEnd(tasks.detail(job, node)) == tick;
  }

  /** Sets a timer for a task that waits. */
  public void await(int job, int node, @Nullable TaskStatus status) {
    timers.add(TaskTable.key(job, node), waitEnd(status));
  }

  /** Returns the next tick at which a back-off may end; {@link Long#MAX_VALUE}: none. */
  public long nextTick() {
    return timers.nextTick();
  }

  /** Returns the task whose back-off ends first, as {@link TaskTable#key}; -1: none. */
  public long nextTask() {
    return timers.nextTask();
  }

  /**
   * Ends the back-offs that are over.
   *
   * @param limit the maximum number of timers to handle
   * @return true when all that are over have been ended
   */
  public boolean endBackoffs(long tick, int limit) {
    for (int i = 0; i < limit; i++) {
      long task = timers.pollDue(tick);
      if (task < 0) {
        return true;
      }
      int job = TaskTable.job(task);
      int node = TaskTable.node(task);
      int code = tasks.code(job, node);
      if (StatusCodes.isWaiting(code)
          && waitEnd(tasks.detail(job, node)) <= tick
          && write(job, node, StatusCodes.afterWait(code))) {
        index.refresh(node, jobs.levels[job], job >>> 6);
      }
    }
    return timers.nextTick() > tick;
  }
}
