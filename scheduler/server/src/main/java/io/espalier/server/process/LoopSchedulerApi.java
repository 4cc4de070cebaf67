package io.espalier.server.process;

import io.espalier.core.api.EventFeed;
import io.espalier.core.api.Explanation;
import io.espalier.core.api.FailureGroups;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobLevels;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.LimitView;
import io.espalier.core.api.NodeDetail;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.QueueView;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskDeadlines;
import io.espalier.core.api.TaskPage;
import io.espalier.core.api.TaskQuery;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskView;
import io.espalier.core.api.TreeQuery;
import io.espalier.core.api.TreeView;
import io.espalier.core.api.WaitingReasons;
import io.espalier.core.api.WorkerView;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import io.espalier.server.remote.LogReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Answers the queries of monitors from the published view, through the scheduler's inbox, and from
 * the log store.
 */
final class LoopSchedulerApi implements SchedulerApi {
  /** The maximum time that an answer waits for the status store. */
  private static final long DURABLE_WITHIN_SECONDS = 5;

  private final SchedulerLoop loop;
  private final Executor owner;
  private final CurrentView view;
  private final EventFeed events;
  private final LogReader logs;
  private final StatusStore store;
  private final Executor blocking;
  private final JobVersions jobVersions;
  private final LeadershipControl leadership;

  /**
   * @param owner the scheduler thread
   * @param blocking runs store queries that may wait for the disk
   */
  LoopSchedulerApi(
      SchedulerLoop loop,
      Executor owner,
      CurrentView view,
      EventFeed events,
      LogReader logs,
      StatusStore store,
      Executor blocking,
      JobVersions jobVersions,
      LeadershipControl leadership) {
    this.loop = loop;
    this.owner = owner;
    this.view = view;
    this.events = events;
    this.logs = logs;
    this.store = store;
    this.blocking = blocking;
    this.jobVersions = jobVersions;
    this.leadership = leadership;
  }

  @Override
  public SchedulerView view() {
    return view.get();
  }

  @Override
  public ProblemAges problemAges() {
    return view.ages();
  }

  @Override
  public EventFeed events() {
    return events;
  }

  @Override
  public CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples) {
    return show(l -> l.questions().histograms(jobs, samples));
  }

  @Override
  public CompletionStage<TaskPage> tasks(TaskQuery query) {
    return show(l -> l.tasks(query))
        .thenApplyAsync(
            page -> new TaskPage(remembered(query.job(), page.tasks()), page.next()), blocking);
  }

  @Override
  public CompletionStage<TaskView> task(String job, String node) {
    return show(l -> CompletableFuture.completedFuture(l.task(job, node)))
        .thenApplyAsync(task -> remembered(job, List.of(task)).get(0), blocking);
  }

  @Override
  public CompletionStage<TaskHistory> history(String job, String node) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return store.history(job, node);
          } catch (StoreException e) {
            throw new RefusedException(
                RefusedException.Reason.UNAVAILABLE, String.valueOf(e.getMessage()));
          }
        },
        blocking);
  }

  /**
   * Adds details of completed tasks that only the store still has; the scheduler keeps just the
   * completion. Ignores a row that is older than the scheduler's status.
   */
  private List<TaskView> remembered(String job, List<TaskView> tasks) {
    List<String> done =
        tasks.stream().filter(LoopSchedulerApi::isForgotten).map(TaskView::node).toList();
    if (done.isEmpty()) {
      return tasks;
    }
    Map<String, TaskStatus> stored = new HashMap<>();
    try {
      store.load(job, done).forEach(row -> stored.put(row.node(), row.status()));
    } catch (StoreException e) {
      // Without the details, it is still known that the tasks are done.
      return tasks;
    }
    return tasks.stream()
        .map(
            task -> {
              TaskStatus status = isForgotten(task) ? stored.get(task.node()) : null;
              return status == null || status.main() != TaskStatus.Main.DONE
                  ? task
                  : TaskView.of(task.job(), task.node(), task.level(), task.bits(), status, null);
            })
        .toList();
  }

  private static boolean isForgotten(TaskView task) {
    return task.attempts() == 0 && (task.bits() & TaskStatus.Main.DONE.bit()) != 0;
  }

  @Override
  public CompletionStage<Explanation> explain(String job, String node) {
    return show(l -> l.questions().explain(job, node));
  }

  @Override
  public CompletionStage<List<WorkerView>> workers() {
    return ask(SchedulerLoop::workers);
  }

  @Override
  public CompletionStage<WorkerView> hold(String shard, WorkerCordon.Kind kind, String reason) {
    return hold(shard, kind, "", reason);
  }

  @Override
  public CompletionStage<WorkerView> hold(
      String shard, WorkerCordon.Kind kind, String author, String reason) {
    return ask(l -> l.hold(shard, kind, author, reason)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<WorkerView> release(String shard, String reason) {
    return ask(l -> l.release(shard, reason)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<TreeView> tree(TreeQuery query) {
    return show(l -> l.questions().tree(query));
  }

  @Override
  public CompletionStage<NodeDetail> node(String level, String node) {
    return show(l -> l.questions().node(level, node));
  }

  @Override
  public CompletionStage<WaitingReasons> waiting(String job) {
    return show(l -> l.questions().waiting(job));
  }

  @Override
  public CompletionStage<FailureGroups> failures(String job, int limit) {
    return show(l -> l.questions().failures(job, limit));
  }

  @Override
  public CompletionStage<JobLevels> levels(String job, int samples) {
    return show(l -> l.questions().levels(job, samples));
  }

  @Override
  public CompletionStage<LogPage> logs(LogQuery query) {
    return logs.query(query);
  }

  @Override
  public CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
    return logs.follow(query, positions);
  }

  @Override
  public CompletionStage<Long> forgive(List<String> jobs) {
    return ask(l -> l.forgive(jobs)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Void> kill(String job, String node) {
    return ask(l -> l.kill(job, node)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<TaskDeadlines> extend(String job, String node, long millis) {
    return ask(l -> l.extend(job, node, millis)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Void> pause(String job, String reason) {
    return ask(l -> l.pause(job, "", reason, 0)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Void> resume(String job) {
    return ask(l -> l.resume(job, "", "")).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return ask(l -> l.pause(job, author, reason, millis)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Void> resume(String job, String author, String reason) {
    return ask(l -> l.resume(job, author, reason)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<Long> stop(String job, String author, String reason) {
    return ask(l -> l.stopJob(job, author, reason)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return ask(l -> l.rerun(selection)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return ask(l -> l.forgive(selection)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<List<QueueView>> queues() {
    return ask(SchedulerLoop::queues);
  }

  @Override
  public List<QueueView> recentQueues() {
    return loop.stats().queues();
  }

  @Override
  public CompletionStage<List<LimitView>> limits() {
    return ask(SchedulerLoop::limits);
  }

  @Override
  public CompletionStage<LimitView> setLimit(LimitOverride override, long millis) {
    return ask(l -> l.setLimit(override, millis)).thenCompose(Function.identity());
  }

  @Override
  public CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return ask(l -> l.endLimit(key, author, reason)).thenCompose(Function.identity());
  }

  @Override
  public LeadershipControl leadership() {
    return leadership;
  }

  @Override
  public JobVersions jobVersions() {
    return jobVersions;
  }

  /**
   * Runs a query on the scheduler thread. An answer that reports statuses is delivered once they
   * are durable, so that no crash can revert it.
   */
  private <T> CompletionStage<T> show(Function<SchedulerLoop, CompletionStage<T>> question) {
    return ask(question)
        .thenCompose(Function.identity())
        .thenCompose(answer -> durable().thenApply(nothing -> answer));
  }

  private CompletionStage<Void> durable() {
    return ask(SchedulerLoop::durable)
        .thenCompose(Function.identity())
        .toCompletableFuture()
        .orTimeout(DURABLE_WITHIN_SECONDS, TimeUnit.SECONDS)
        .exceptionallyCompose(
            problem ->
                CompletableFuture.failedFuture(
                    problem instanceof TimeoutException
                        ? new RefusedException(
                            RefusedException.Reason.UNAVAILABLE,
                            "the latest results are not durable yet: the status store is slow or"
                                + " away")
                        : problem));
  }

  private <T> CompletionStage<T> ask(Function<SchedulerLoop, T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    owner.execute(
        () -> {
          try {
            answer.complete(question.apply(loop));
          } catch (RuntimeException e) {
            // This is either a refusal or a bug of ours, which must not stop the scheduler.
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }
}
