package io.espalier.server.app.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.EventFeed;
import io.espalier.core.api.JobStarts;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogReader;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.running.Call;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.json.JsonReader;
import io.espalier.server.replay.SnapshotFile;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts commands into the scheduler's inbox, and queries that only the loop can answer. The
 * published view and the stores answer the others.
 */
public final class LoopSchedulerApi implements SchedulerApi {
  /** The part of the heap that the statuses in a snapshot may take, and what each takes. */
  private static final int PART_OF_HEAP = 8;

  private static final int BYTES_PER_TASK = 4;

  private static final StatusParser STATUS_TEXT = new StatusParser(JsonReader::parse);

  /** The maximum time that an answer waits for the status store. */
  private static final long DURABLE_WITHIN_SECONDS = 5;

  private final Consumer<LoopInput> loop;
  private final LoopStats stats;
  private final CurrentView view;
  private final EventFeed events;
  private final LogReader logs;
  private final StatusStore store;
  private final Executor blocking;
  private final JobVersions jobVersions;
  private final LeadershipControl leadership;
  private final CallbackSigner callbacks;
  private final AtomicBoolean snapshotUnderWay = new AtomicBoolean();

  /**
   * @param loop takes inputs for the scheduler thread
   * @param blocking runs store queries that may wait for the disk
   * @param callbacks knows which callbacks are genuine
   */
  public LoopSchedulerApi(
      Consumer<LoopInput> loop,
      LoopStats stats,
      CurrentView view,
      EventFeed events,
      LogReader logs,
      StatusStore store,
      Executor blocking,
      JobVersions jobVersions,
      LeadershipControl leadership,
      CallbackSigner callbacks) {
    this.loop = loop;
    this.stats = stats;
    this.view = view;
    this.events = events;
    this.logs = logs;
    this.store = store;
    this.blocking = blocking;
    this.jobVersions = jobVersions;
    this.leadership = leadership;
    this.callbacks = callbacks;
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
  public List<ResourceUse> recentResources() {
    return stats.resources();
  }

  @Override
  public List<JobStarts> startsOfJobs() {
    return stats.startsOfJobs();
  }

  @Override
  public Map<String, NeverStarting> neverStarting() {
    return stats.neverStarting();
  }

  @Override
  public List<QueueView> recentQueues() {
    return stats.queues();
  }

  @Override
  public List<GroupKindView> recentGroups() {
    return stats.groups();
  }

  @Override
  public List<NotifierView> notifiers() {
    return stats.notifiers();
  }

  @Override
  public EventFeed events() {
    return events;
  }

  @Override
  public LogReader logs() {
    return logs;
  }

  @Override
  public JobVersions jobVersions() {
    return jobVersions;
  }

  @Override
  public LeadershipControl leadership() {
    return leadership;
  }

  @Override
  public CompletionStage<Map<String, TaskHistory>> histories(String job, Collection<String> nodes) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return store.histories(job, nodes);
          } catch (StoreException e) {
            throw new RefusedException(
                RefusedException.Reason.UNAVAILABLE, String.valueOf(e.getMessage()));
          }
        },
        blocking);
  }

  @Override
  public CompletionStage<byte[]> snapshot() {
    if (!snapshotUnderWay.compareAndSet(false, true)) {
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE, "another snapshot is being taken: try again");
    }
    CompletableFuture<SchedulerSnapshot> copy = new CompletableFuture<>();
    long mostTasks = Runtime.getRuntime().maxMemory() / PART_OF_HEAP / BYTES_PER_TASK;
    loop.accept(new LoopInput.TakeSnapshot(mostTasks, copy));
    return copy.thenApplyAsync(SnapshotFile::write, blocking)
        .whenComplete((bytes, failure) -> snapshotUnderWay.set(false));
  }

  @Override
  public <T> CompletionStage<T> run(Command<T> command) {
    return unlessStoreFails(
        execute(command).thenCompose(this::shown).toCompletableFuture(),
        view::get,
        Duration.ofSeconds(DURABLE_WITHIN_SECONDS));
  }

  /**
   * Fails an answer with the reason when it is not there in time because the status store fails.
   * Other answers may take longer: a command may be about all tasks.
   */
  static <T> CompletableFuture<T> unlessStoreFails(
      CompletableFuture<T> answer, Supplier<SchedulerView> view, Duration within) {
    CompletableFuture<@Nullable Void> patience = new CompletableFuture<>();
    var unused =
        patience
            .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
            .thenRun(
                () -> {
                  String problem = view.get().errors().get(SchedulerView.STORE);
                  if (problem != null) {
                    answer.completeExceptionally(
                        new TimeoutException(
                            "nothing can be stored now, so it is not known whether this takes effect: it"
                                + " does when the status store works again, unless the scheduler ends"
                                + " before ("
                                + problem
                                + ")"));
                  }
                });
    var unusedEnd = answer.whenComplete((value, failure) -> patience.cancel(false));
    return answer;
  }

  private <T> CompletionStage<T> execute(Command<T> command) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    loop.accept(new LoopInput.Execute<>(command, answer));
    return answer;
  }

  /** Completes with the given answer once the view shows what it is about. */
  private <T> CompletionStage<T> shown(T answer) {
    if (answer instanceof BrakeView brake && !brake.durable()) {
      // The view shows only what is durable.
      return CompletableFuture.completedFuture(answer);
    }
    CompletableFuture<@Nullable Void> shown = new CompletableFuture<>();
    loop.accept(new LoopInput.AwaitView(shown));
    return shown.thenApply(unused -> answer);
  }

  @Override
  public CompletionStage<Callback.Outcome> calledBack(Callback callback) {
    if (!callbacks.isGenuine(
        callback.job(), callback.node(), callback.invocation(), callback.signature())) {
      return CompletableFuture.completedFuture(Callback.Outcome.FORGED);
    }
    return execute(new Command.Report(callback))
        .thenCompose(
            isAlive ->
                isAlive
                    ? CompletableFuture.completedFuture(Callback.Outcome.RECORDED)
                    : history(callback.job(), callback.node())
                        .thenApply(past -> compared(callback, past)));
  }

  /** Compares a callback with how its invocation has ended: its result, not its data. */
  private static Callback.Outcome compared(Callback callback, TaskHistory past) {
    for (Attempt attempt : past.attempts()) {
      if (Call.id(callback.job(), callback.node(), attempt.invocation())
          .equals(callback.invocation())) {
        return compared(callback.said(), attempt);
      }
    }
    return Callback.Outcome.GONE;
  }

  private static Callback.Outcome compared(Json.Obj said, Attempt attempt) {
    if (!(CallAnswer.of(said) instanceof CallAnswer.Ended end)) {
      // Progress that comes too late contradicts nothing.
      return Callback.Outcome.GONE;
    }
    TaskStatus.Main reported = STATUS_TEXT.read(end.status()).main();
    boolean same = (attempt.bits() & reported.bit()) != 0;
    // The retry rules of a job may make a failure of what is not done, and a command may cancel it.
    int failure = TaskStatus.Main.FAILED.bit() | TaskStatus.Main.CANCELLED.bit();
    boolean failedBoth = reported != TaskStatus.Main.DONE && (attempt.bits() & failure) != 0;
    return attempt.kind() == TaskResult.Kind.EXITED && (same || failedBoth)
        ? Callback.Outcome.KNOWN
        : Callback.Outcome.CONTRADICTED;
  }

  /** Answers once the reported statuses are durable, so that no crash can revert the answer. */
  @Override
  public <T> CompletionStage<T> ask(Query<T> query) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    loop.accept(new LoopInput.Answer<>(query, answer));
    if (!query.reportsStatuses()) {
      return answer;
    }
    CompletionStage<T> durable = answer.thenCompose(made -> durable().thenApply(nothing -> made));
    return query instanceof Query.Tasks || query instanceof Query.Task
        ? durable.thenApplyAsync(this::remembered, blocking)
        : durable;
  }

  private CompletionStage<@Nullable Void> durable() {
    CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
    loop.accept(new LoopInput.AwaitDurable(durable));
    return durable
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

  @SuppressWarnings("unchecked") // The answer is of the type that it had.
  private <T> T remembered(T answer) {
    if (answer instanceof TaskPage page) {
      return (T) new TaskPage(remembered(page.tasks()), page.next(), page.total());
    }
    return answer instanceof TaskView task ? (T) remembered(List.of(task)).get(0) : answer;
  }

  /**
   * Adds details of completed tasks that only the store still has; the scheduler keeps just the
   * completion. Ignores a row that is older than the scheduler's status.
   *
   * @param tasks of one job
   */
  private List<TaskView> remembered(List<TaskView> tasks) {
    List<String> done =
        tasks.stream().filter(LoopSchedulerApi::isForgotten).map(TaskView::node).toList();
    if (done.isEmpty()) {
      return tasks;
    }
    Map<String, TaskStatus> stored = new HashMap<>();
    try {
      store.load(tasks.get(0).job(), done).forEach(row -> stored.put(row.node(), row.status()));
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
                  : TaskView.of(
                      task.job(), task.node(), task.level(), task.bits(), status, null, 0);
            })
        .toList();
  }

  private static boolean isForgotten(TaskView task) {
    return task.attempts() == 0 && (task.bits() & TaskStatus.Main.DONE.bit()) != 0;
  }
}
