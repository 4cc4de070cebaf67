package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.FailureIndex;
import io.espalier.core.scheduling.task.StagedTasks;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Questions to the core about tasks that run or not, one by one and counted. A task is the number
 * of its job and that of its node.
 *
 * <p>{@code SchedulingCore.tasks} returns it; use it on the thread of the core.
 */
public final class TaskQueries {
  /** What {@link #status} returns for every plainly done task: always this object. */
  public static final TaskStatus PLAINLY_DONE = TaskStatus.of(Main.DONE, 0, 0);

  private final Supplier<SchedulingState> current;

  public TaskQueries(Supplier<SchedulingState> current) {
    this.current = current;
  }

  private SchedulingState state() {
    return current.get();
  }

  /** Returns the counts that determine the state of a job. */
  public JobCounts tally(int job) {
    return state().tasks.tally(job, state().places.ofJob(job));
  }

  public JobProgress progress(int job) {
    return ProgressCounts.of(state(), job);
  }

  /**
   * Returns whether the tasks of a job wait only for their own status, their dependencies and
   * slots. Otherwise none of them counts as ready. Takes constant time.
   */
  public boolean mayStart(int job) {
    return state().mayStart(job);
  }

  /**
   * Returns a revision that changes whenever {@link #progress} may change, within one {@code
   * SchedulingCore.stateNumber} and with the same {@link #mayStart}.
   */
  public long countsRevision(int job) {
    return state().tasks.revision(job);
  }

  /**
   * Counts the tasks of a job per level and status (docs/design/bistro.md#histograms). The first
   * call for a job takes one pass. Later calls cost, for the levels above the tasks, what has
   * changed since the last call.
   *
   * @param samples the maximum number of node names per bucket
   */
  public Histogram histogram(int job, int samples) {
    return state().histograms.histogram(job, samples);
  }

  /**
   * Does a part of the work of a histogram in advance, so that {@link #histogram} is quick
   * afterwards.
   *
   * @param units about how many nodes to visit, at least 2
   * @return the number of nodes visited; when it is less than {@code units}, the histogram will be
   *     quick
   */
  public long prepareHistogram(int job, int units) {
    return state().histograms.prepare(job, units);
  }

  /**
   * Returns the failed tasks of a job by cause. Costs time proportional to the number of causes,
   * which is bounded.
   *
   * @param limit the maximum number of groups
   * @param samples the maximum number of node names per group
   */
  public FailureGroups failures(int job, int limit, int samples) {
    FailureIndex index = state().tasks.failures(job);
    return new FailureGroups(
        state().jobs.name(job),
        state().clock.wallMillis(),
        index.total(),
        index.size(),
        index.largest(
            limit, samples, node -> state().statuses.of(job, node), state().topology::name));
  }

  /**
   * Returns the status of a task. While the task runs, this is the status that was last set, or
   * else its status before the start. For a plainly done task, nothing more than that is kept.
   */
  public @Nullable TaskStatus status(int job, int node) {
    TaskStatus detail = state().statuses.of(job, node);
    return detail == null && StatusCodes.isPlainlyDone(state().tasks.code(job, node))
        ? PLAINLY_DONE
        : detail;
  }

  /**
   * Returns how many tasks of a job are done and not verified yet, without those that run, and
   * without those on nodes that are disabled or that its filters exclude.
   */
  public long awaitingVerification(int job) {
    return state()
        .tasks
        .counted(
            job,
            code ->
                StatusCodes.awaitsVerification(code)
                    && StatusCodes.effect(code) == StatusCodes.OPEN);
  }

  /** Returns how many of {@link #awaitingVerification} may not be verified yet. */
  public long mayNotBeVerifiedYet(int job) {
    return state()
        .tasks
        .counted(
            job,
            code ->
                StatusCodes.awaitsVerification(code)
                    && !StatusCodes.isInVerification(code)
                    && StatusCodes.effect(code) == StatusCodes.OPEN);
  }

  /** Returns the first node of the job's level. */
  public int firstNode(int job) {
    return state().tasks.first(job);
  }

  /** Returns whether a task runs or may start again, apart from verifications. */
  public boolean isLeft(int job, int node) {
    return StagedTasks.isLeft(state().tasks.code(job, node));
  }

  /** Returns the exclusive end of the nodes of the job's level. */
  public int endNode(int job) {
    return state().tasks.end(job);
  }

  /** Returns the status bits of a task, as in histograms (docs/design/bistro.md#histograms). */
  public int bits(int job, int node) {
    return StatusCodes.bits(state().tasks.code(job, node));
  }

  /**
   * Finds the next task of a job, in node order, whose status matches a filter.
   *
   * @param fromNode the node to begin at; before the job's level: begin at its first node
   * @param limit the maximum number of tasks to check
   * @return the node; {@code -1} when no further task matches; otherwise {@code -2 - next}, where
   *     {@code next} is the node to continue from
   */
  public int next(int job, int fromNode, int limit, StatusFilter set) {
    int from = Math.max(fromNode, state().tasks.first(job));
    int end = state().tasks.end(job);
    int stop = (int) Math.min(end, (long) from + limit);
    for (int node = from; node < stop; node++) {
      if (set.has(state().tasks.code(job, node))) {
        return node;
      }
    }
    return stop >= end ? -1 : -2 - stop;
  }

  /**
   * Returns the back-off that ends first, of all jobs; null: no task is in back-off, or that task
   * may not start then, because of its job or its node. The cost is constant.
   */
  public @Nullable NextAttempt nextAttempt() {
    long task = state().statuses.nextTask();
    if (task < 0) {
      return null;
    }
    int job = TaskTable.job(task);
    int node = TaskTable.node(task);
    TaskStatus status = state().statuses.of(job, node);
    boolean mayStart =
        state().mayStart(job)
            && StatusCodes.effect(state().tasks.code(job, node)) == StatusCodes.OPEN;
    return mayStart && status != null
        ? new NextAttempt(state().jobs.name(job), status.readyAtMillis())
        : null;
  }

  /**
   * Explains why a task is not running. The explanation lists all conditions that fail, evaluated
   * by the same predicates that start tasks. Where a node has several parents, it describes the
   * path with the fewest failing conditions.
   *
   * @throws io.espalier.core.api.RefusedException for an unknown job or node
   */
  public Explanation explain(String job, String node) {
    return Explainer.explain(state(), job, node);
  }

  /** Begins to count the waiting tasks of a job by wait reason. */
  public WaitReasonScan waiting(int job) {
    return new WaitReasonScan(current, job, Explainer.gates(state(), job));
  }

  /** Begins to search for the running tasks that hold slots in the given places. */
  public ResourceHolderScan holders(ResourceHolderScan.Place... places) {
    return new ResourceHolderScan(current, places);
  }

  /**
   * Begins to count tasks in subtrees.
   *
   * @param job the only job to count; -1: all
   * @param byJob whether to count each job separately
   */
  public SubtreeCountScan counts(int job, boolean byJob) {
    return new SubtreeCountScan(current, job, byJob);
  }

  /**
   * Returns the counts of the tasks on one node, without those below it.
   *
   * @param job the only job to count; -1: all
   */
  public TaskCounts countsOf(int job, int node) {
    return SubtreeCountScan.of(state(), job, node);
  }

  /**
   * Returns the same of a task that is not running; 0: its status, its job or what it depends on
   * does not let it start.
   */
  public long eligibleMillis(int job, int node) {
    return state().eligibleMillis(job, node);
  }
}
