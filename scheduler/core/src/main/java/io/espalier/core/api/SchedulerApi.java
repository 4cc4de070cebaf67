package io.espalier.core.api;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.MergedLogs;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.TaskHistory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The operations of a scheduler that REST and the CLI use. Thread-safe. Calls return at once; what
 * needs the scheduler thread completes through the stage, between its slices of work. A stage fails
 * with {@link RefusedException} for an invalid request.
 */
public interface SchedulerApi {
  /** The latest published view; never blocks, never null. */
  SchedulerView view();

  EventFeed events();

  /** The ages of the problems in the latest views; never blocks. */
  default ProblemAges problemAges() {
    return ProblemAges.NONE;
  }

  /**
   * Histograms of jobs.
   *
   * @param jobs job names; empty: all valid ones; unknown names are skipped
   * @param samples maximum number of node names per bucket
   */
  CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples);

  CompletionStage<TaskPage> tasks(TaskQuery query);

  CompletionStage<TaskView> task(String job, String node);

  /** All workers: those of the pool, then those that have left and still have tasks. */
  CompletionStage<List<WorkerView>> workers();

  /**
   * Cordons a worker: it gets no new tasks until released; running tasks continue. The cordon
   * applies to the shard: it outlives the worker's process and the scheduler's. Durable when the
   * stage completes.
   *
   * @param kind kind of cordon, replacing an earlier one
   * @return the worker as it is now
   */
  CompletionStage<WorkerView> hold(String shard, WorkerCordon.Kind kind, String reason);

  /**
   * Like {@link #hold(String, WorkerCordon.Kind, String)}.
   *
   * @param author the operator; empty when none was given
   */
  default CompletionStage<WorkerView> hold(
      String shard, WorkerCordon.Kind kind, String author, String reason) {
    return hold(shard, kind, reason);
  }

  /** Ends the cordon set by {@link #hold}. */
  CompletionStage<WorkerView> release(String shard, String reason);

  /** The stored past attempts of a task; empty for an unknown task. */
  CompletionStage<TaskHistory> history(String job, String node);

  CompletionStage<Explanation> explain(String job, String node);

  /**
   * A part of the node tree with usage and counts; computed recently, not necessarily for this
   * call.
   */
  default CompletionStage<TreeView> tree(TreeQuery query) {
    return notSupported();
  }

  /** One node with usage, holders and counts. */
  default CompletionStage<NodeDetail> node(String level, String node) {
    return notSupported();
  }

  /**
   * The reasons why a job's waiting tasks wait, with counts; computed recently, not necessarily for
   * this call.
   */
  default CompletionStage<WaitingReasons> waiting(String job) {
    return notSupported();
  }

  /**
   * The failed tasks of a job, grouped by cause.
   *
   * @param limit maximum number of groups
   */
  default CompletionStage<FailureGroups> failures(String job, int limit) {
    return notSupported();
  }

  /**
   * The progress of a job on each level.
   *
   * @param samples maximum number of node names per state
   */
  default CompletionStage<JobLevels> levels(String job, int samples) {
    return notSupported();
  }

  private static <T> CompletionStage<T> notSupported() {
    return CompletableFuture.failedFuture(
        new RefusedException(RefusedException.Reason.UNSUPPORTED, "not supported"));
  }

  /** Runs a log query on a thread that may block. */
  CompletionStage<LogPage> logs(LogQuery query);

  /**
   * Returns new log lines for a client that follows the logs.
   *
   * @param query ascending query; its {@code from} applies to stores without a position, -1: start
   *     after what they have now
   * @param positions positions of the previous page; initially empty
   * @return a page with the positions for the next call
   */
  default CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
    long from = positions.getOrDefault("", query.from());
    if (from < 0) {
      return logs(query.withRegex("").withOrder(false).withLimit(1))
          .thenApply(
              page ->
                  new LogPage(
                      List.of(), LogPage.END, page.missing(), Map.of("", MergedLogs.behind(page))));
    }
    return logs(query.withFrom(from))
        .thenApply(page -> MergedLogs.followed(from, Map.of(), Map.of("", page), Map.of()));
  }

  /**
   * Ends back-offs and makes failed tasks startable (docs/design/bistro.md#forgiving); durable when
   * the stage completes.
   *
   * @return the number of changed tasks
   */
  CompletionStage<Long> forgive(List<String> jobs);

  /**
   * Signals a running task according to its job's {@code kill_subprocess}; completes when the
   * signal is queued.
   */
  CompletionStage<Void> kill(String job, String node);

  /**
   * Extends the time limits of a running task: its timeout and its deadline, if it has them.
   *
   * @param millis extension, above 0
   * @return its new limits
   */
  CompletionStage<TaskDeadlines> extend(String job, String node, long millis);

  /**
   * Pauses a job until it is resumed: none of its tasks start, none are killed. Survives reload and
   * restart.
   */
  CompletionStage<Void> pause(String job, String reason);

  CompletionStage<Void> resume(String job);

  /**
   * Like {@link #pause(String, String)}, replacing an older pause.
   *
   * @param author the operator; empty when none was given
   * @param millis duration of the pause; 0: until resumed
   */
  default CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return pause(job, reason);
  }

  /**
   * Like {@link #resume(String)}.
   *
   * @param author the operator; empty when none was given
   */
  default CompletionStage<Void> resume(String job, String author, String reason) {
    return resume(job);
  }

  /**
   * Pauses a job and kills all its running tasks, like {@link #kill}.
   *
   * @return the number of signaled tasks; completes when the pause is durable and the signals are
   *     queued
   */
  default CompletionStage<Long> stop(String job, String author, String reason) {
    return notSupported();
  }

  /**
   * Resets tasks, even those that are done, so that they start again as if they had never been
   * tried; only their history remains. Running tasks are skipped. Durable when the stage completes;
   * fails with a conflict, and changes nothing, when the number of matching tasks is not the
   * expected one.
   */
  default CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return notSupported();
  }

  /** Like {@link #forgive(List)}, for selected tasks of a job; otherwise like {@link #rerun}. */
  default CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return notSupported();
  }

  /** All queues with their usage, caps and shares. */
  default CompletionStage<List<QueueView>> queues() {
    return notSupported();
  }

  /** The queues as of at most a few seconds ago, returned at once: for metrics. */
  default List<QueueView> recentQueues() {
    return List.of();
  }

  /** All limit overrides. */
  default CompletionStage<List<LimitView>> limits() {
    return notSupported();
  }

  /**
   * Overrides the configured limit of a resource, on one node or on a whole level, replacing an
   * older override with the same key. Kills nothing. Durable when the stage completes.
   *
   * @param override override; its times are ignored: it takes effect now
   * @param millis duration; 0: until ended
   */
  default CompletionStage<LimitView> setLimit(LimitOverride override, long millis) {
    return notSupported();
  }

  /**
   * Ends a limit override.
   *
   * @return the ended override
   */
  default CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return notSupported();
  }

  /** Saves, deletes and lists versions of jobs. */
  default JobVersions jobVersions() {
    return JobVersions.NONE;
  }

  /** The leadership of this scheduler. */
  default LeadershipControl leadership() {
    return LeadershipControl.ALONE;
  }
}
