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
 * What REST and the CLI may ask of a scheduler. Thread-safe. Calls return at once; what needs the
 * scheduler thread is answered between its slices of work, through the stage. A stage fails with
 * {@link RefusedException} for what the caller did wrong.
 */
public interface SchedulerApi {
  /** The latest published view; never blocks, never null. */
  SchedulerView view();

  EventFeed events();

  /** Since when the problems of the latest views have been there; never blocks. */
  default ProblemAges problemAges() {
    return ProblemAges.NONE;
  }

  /**
   * @param jobs empty: all valid ones; unknown names are skipped
   * @param samples node names per bucket, at most
   */
  CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples);

  CompletionStage<TaskPage> tasks(TaskQuery query);

  CompletionStage<TaskView> task(String job, String node);

  /** All workers: those of the pool, then those that have left and still have tasks. */
  CompletionStage<List<WorkerView>> workers();

  /**
   * Gives a worker no new tasks until released; ends none. About its shard: outlives the worker's
   * process and the scheduler's. Durable when the stage completes.
   *
   * @param kind in place of what an operator said before
   * @return the worker as it is now
   */
  CompletionStage<WorkerView> hold(String shard, WorkerCordon.Kind kind, String reason);

  /**
   * As {@link #hold(String, WorkerCordon.Kind, String)}.
   *
   * @param author who asks; empty when nobody had to say
   */
  default CompletionStage<WorkerView> hold(
      String shard, WorkerCordon.Kind kind, String author, String reason) {
    return hold(shard, kind, reason);
  }

  /** Ends what {@link #hold} began. */
  CompletionStage<WorkerView> release(String shard, String reason);

  /** The past attempts of a task, as far as they are kept; nothing for an unknown one. */
  CompletionStage<TaskHistory> history(String job, String node);

  CompletionStage<Explanation> explain(String job, String node);

  /** Part of the node tree with use and counts; made lately, not necessarily just now. */
  default CompletionStage<TreeView> tree(TreeQuery query) {
    return notSupported();
  }

  /** One node with use, holders and counts. */
  default CompletionStage<NodeDetail> node(String level, String node) {
    return notSupported();
  }

  /** Why the waiting tasks of a job wait, counted; made lately, not necessarily just now. */
  default CompletionStage<WaitingReasons> waiting(String job) {
    return notSupported();
  }

  /**
   * @param limit groups, at most
   */
  default CompletionStage<FailureGroups> failures(String job, int limit) {
    return notSupported();
  }

  /**
   * @param samples node names per state, at most
   */
  default CompletionStage<JobLevels> levels(String job, int samples) {
    return notSupported();
  }

  private static <T> CompletionStage<T> notSupported() {
    return CompletableFuture.failedFuture(
        new RefusedException(RefusedException.Reason.UNSUPPORTED, "not supported"));
  }

  /** Runs the query where blocking is allowed. */
  CompletionStage<LogPage> logs(LogQuery query);

  /**
   * What is new for somebody who follows logs.
   *
   * @param query ascending; its {@code from} is for stores without a position, -1: begin behind
   *     what they have now
   * @param positions of the last answer; at first empty
   * @return a page with the positions to go on with
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
   * Lifts back-offs and makes failed tasks startable (docs/design/bistro.md#forgiving); durable
   * when the stage completes.
   *
   * @return how many tasks changed
   */
  CompletionStage<Long> forgive(List<String> jobs);

  /**
   * Signals a running task as its job's {@code kill_subprocess} says; completes when the signal is
   * queued.
   */
  CompletionStage<Void> kill(String job, String node);

  /**
   * Moves the time limits of a running task: its timeout and its deadline, where it has them.
   *
   * @param millis above 0
   * @return its limits from now on
   */
  CompletionStage<TaskDeadlines> extend(String job, String node, long millis);

  /** Stops starts of a job until resumed; kills nothing; survives reload and restart. */
  CompletionStage<Void> pause(String job, String reason);

  CompletionStage<Void> resume(String job);

  /**
   * As {@link #pause(String, String)}, replacing an older pause.
   *
   * @param author who asks; empty when nobody had to say
   * @param millis when it ends by itself, from now; 0: never
   */
  default CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return pause(job, reason);
  }

  /**
   * As {@link #resume(String)}.
   *
   * @param author who asks; empty when nobody had to say
   */
  default CompletionStage<Void> resume(String job, String author, String reason) {
    return resume(job);
  }

  /**
   * Pauses a job and kills all its running tasks, as {@link #kill} does.
   *
   * @return how many were asked to end; completes when the pause is durable and the signals are
   *     queued
   */
  default CompletionStage<Long> stop(String job, String author, String reason) {
    return notSupported();
  }

  /**
   * Makes tasks start again as if they had never been tried: also those that are done. Nothing
   * remains of them but their history. Running ones are passed over. Durable when the stage
   * completes; fails with a conflict, and changes nothing, when others than the expected number of
   * tasks match.
   */
  default CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return notSupported();
  }

  /** {@link #forgive(List)} for some tasks of a job; otherwise as {@link #rerun}. */
  default CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return notSupported();
  }

  /** All queues: what they hold, what they may hold, and what is due to them. */
  default CompletionStage<List<QueueView>> queues() {
    return notSupported();
  }

  /** The same as it was some seconds ago at most, at once: for metrics. */
  default List<QueueView> recentQueues() {
    return List.of();
  }

  /** All overrides of limits. */
  default CompletionStage<List<LimitView>> limits() {
    return notSupported();
  }

  /**
   * Gives a resource another limit than the configured one, on one node or on a whole level;
   * replaces an older override of the same. Kills nothing. Durable when the stage completes.
   *
   * @param override its times are ignored: it is in force from now on
   * @param millis when it ends by itself, from now; 0: never
   */
  default CompletionStage<LimitView> setLimit(LimitOverride override, long millis) {
    return notSupported();
  }

  /**
   * Ends an override of a limit.
   *
   * @return what is in force no more
   */
  default CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return notSupported();
  }

  /** Saving and deleting jobs. */
  default JobVersions jobVersions() {
    return JobVersions.NONE;
  }

  /** By what right it leads. */
  default LeadershipControl leadership() {
    return LeadershipControl.ALONE;
  }
}
