package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import io.espalier.webui.v1.json.ApiJson;
import io.espalier.webui.v1.json.AttemptJson;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

/** Resources for tasks: pages, detail, explanation, kill, and running tasks. */
final class TaskResources {
  private static final int MAX_PAGE = 1000;

  /** The largest page with histories: each task may have {@link StatusStore#KEPT_ATTEMPTS}. */
  private static final int MAX_HISTORIES = 200;

  private static final CompletionStage<Map<String, TaskHistory>> NO_HISTORIES =
      CompletableFuture.completedFuture(Map.of());

  private static final int MAX_RUNNING = 10_000;

  /** How many jobs are added up at a time, also for clients that have not waited for it. */
  private static final int MOST_SUMS = 8;

  /** The members that schema {@code RunningTask} requires. */
  private static final Set<String> REQUIRED_OF_RUNNING =
      Set.of("job", "node", "attempt", "worker", "started_at_ms", "invocation");

  private static final Comparator<Invocation> BY_START =
      Comparator.comparingLong(Invocation::epoch).thenComparingLong(Invocation::sequence);

  private static final List<String> BOOLEANS = List.of("true", "false");
  private static final double MAX_SECONDS = 1e9;
  static final List<String> STATUSES =
      Stream.of(StatusLabel.values()).map(StatusLabel::word).toList();

  private final SchedulerApi api;
  private final Semaphore summing = new Semaphore(MOST_SUMS);

  TaskResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.TASKS, this::tasks));
    routes.add(ApiRoute.get(ApiV1.TASK, this::task));
    routes.add(ApiRoute.get(ApiV1.SUMS, this::sums));
    routes.add(ApiRoute.get(ApiV1.EXPLAIN, this::explain));
    routes.add(ApiRoute.post(ApiV1.KILL, this::kill));
    routes.add(ApiRoute.post(ApiV1.EXTEND, this::extend));
    routes.add(ApiRoute.get(ApiV1.RUNNING, this::running));
  }

  private CompletionStage<Json> tasks(ApiRequest request) {
    request.allowing(
        "status",
        "prefix",
        "contains",
        "fingerprint",
        "under",
        "level",
        "reason",
        "after",
        "limit",
        "history",
        "total");
    boolean withHistory = request.choice("history", "false", BOOLEANS).equals("true");
    Query.Tasks query =
        new Query.Tasks(
            request.part("job"),
            request.choices("status", STATUSES),
            request.text("prefix"),
            request.text("after"),
            (int) request.integer("limit", 100, 1, withHistory ? MAX_HISTORIES : MAX_PAGE),
            request.text("fingerprint"),
            request.text("under"),
            request.text("level"),
            request.text("contains"),
            request.choice("reason", "", WaitingReasons.KINDS),
            request.choice("total", "false", BOOLEANS).equals("true"));
    return api.ask(query)
        .thenCompose(
            page ->
                (withHistory ? histories(query.job(), page) : NO_HISTORIES)
                    .thenApply(histories -> page(page, histories, withHistory)));
  }

  private Json page(TaskPage page, Map<String, TaskHistory> histories, boolean withHistory) {
    List<Json> tasks = new ArrayList<>();
    SchedulerView view = api.view();
    for (TaskView task : page.tasks()) {
      tasks.add(
          withHistory
              ? AttemptJson.detail(task, of(histories, task), view)
              : ApiJson.task(task, view));
    }
    Json.Builder answer = Json.object().put("tasks", new Json.Arr(tasks)).put("next", page.next());
    return (page.total() == TaskPage.NOT_COUNTED ? answer : answer.put("total", page.total()))
        .build();
  }

  private CompletionStage<Map<String, TaskHistory>> histories(String job, TaskPage page) {
    return api.histories(job, page.tasks().stream().map(TaskView::node).toList());
  }

  private static TaskHistory of(Map<String, TaskHistory> histories, TaskView task) {
    return histories.getOrDefault(task.node(), TaskHistory.EMPTY);
  }

  private CompletionStage<Json> sums(ApiRequest request) {
    request.allowing("under", "level");
    Query.Tasks whole =
        Query.Tasks.all(request.part("job"), "", MAX_HISTORIES)
            .with(query -> query.under(request.text("under")).level(request.text("level")));
    if (!summing.tryAcquire()) {
      throw new ApiException(503, "several jobs are being added up already: try again");
    }
    return CompletableFuture.completedFuture(whole)
        .thenCompose(query -> sums(query, 0, TaskTotals.NONE))
        .whenComplete((sum, failure) -> summing.release());
  }

  /**
   * Adds up tasks page by page, so that the memory that it takes does not depend on their number.
   */
  private CompletionStage<Json> sums(Query.Tasks query, long tasks, TaskTotals before) {
    return api.ask(query)
        .thenCompose(
            page ->
                histories(query.job(), page)
                    .thenCompose(
                        histories -> {
                          TaskTotals sum = before;
                          for (TaskView task : page.tasks()) {
                            TaskHistory history = of(histories, task);
                            sum = sum.plus(history.totals()).plus(counting(task, history));
                          }
                          long added = tasks + page.tasks().size();
                          return page.next().isEmpty()
                              ? CompletableFuture.completedFuture(
                                  AttemptJson.totals(sum).put("tasks", added).build())
                              : sums(query.withAfter(page.next()), added, sum);
                        }));
  }

  /**
   * Returns what a task that runs has counted so far; nothing if it has ended since, so that its
   * history has it.
   */
  private static TaskTotals counting(TaskView task, TaskHistory history) {
    RunningTaskView running = task.running();
    Progress progress = running == null ? null : running.progress();
    if (running == null || progress == null) {
      return TaskTotals.NONE;
    }
    Invocation invocation = running.invocation();
    return history.attempts().stream().anyMatch(attempt -> attempt.invocation().equals(invocation))
        ? TaskTotals.NONE
        : new TaskTotals(0, 0, 0, 0, progress.counters());
  }

  private CompletionStage<Json> task(ApiRequest request) {
    request.allowing();
    String job = request.part("job");
    String node = request.part("node");
    return api.ask(new Query.Task(job, node))
        .thenCompose(
            task ->
                api.history(job, node)
                    .thenApply(history -> AttemptJson.detail(task, history, api.view())));
  }

  private CompletionStage<Json> explain(ApiRequest request) {
    request.allowing();
    return api.ask(new Query.Explain(request.part("job"), request.part("node")))
        .thenApply(ApiJson::explanation);
  }

  private CompletionStage<Json> kill(ApiRequest request) {
    String reason = request.allowing().allowingInBody("reason").bodyText("reason");
    String job = request.part("job");
    String node = request.part("node");
    return api.run(new Command.Kill(job, node, request.caller().author(""), reason))
        .thenApply(
            done -> Json.object().put("job", job).put("node", node).put("signaled", true).build());
  }

  private CompletionStage<Json> extend(ApiRequest request) {
    String reason = request.allowing().allowingInBody("seconds", "reason").bodyText("reason");
    double seconds = request.bodyNumber("seconds", 0.001, MAX_SECONDS);
    String job = request.part("job");
    String node = request.part("node");
    long millis = Math.round(seconds * 1000);
    return api.run(new Command.Extend(job, node, millis, request.caller().author(""), reason))
        .thenApply(
            limits -> {
              Json.Builder answer = Json.object().put("job", job).put("node", node);
              ApiJson.limits(answer, limits);
              return answer.build();
            });
  }

  private CompletionStage<Json> running(ApiRequest request) {
    request.allowing("job", "node", "worker", "fields", "after", "limit");
    ListRequest list = ListRequest.of(request, 1000, MAX_RUNNING);
    Set<String> jobs = new HashSet<>(request.all("job"));
    Set<String> nodes = new HashSet<>(request.all("node"));
    Set<String> workers = new HashSet<>(request.all("worker"));
    SchedulerView view = api.view();
    List<RunningTaskView> found = new ArrayList<>();
    for (RunningTaskView task : view.running()) {
      if ((jobs.isEmpty() || jobs.contains(task.job()))
          && (nodes.isEmpty() || nodes.contains(task.node()))
          && (workers.isEmpty() || workers.contains(task.workerShard()))) {
        found.add(task);
      }
    }
    // Invocations are never used again, so a cursor outlives its task.
    found.sort(Comparator.comparing(RunningTaskView::invocation, BY_START));
    Invocation after = list.after().isEmpty() ? null : invocation(list.after());
    List<Json> shown = new ArrayList<>();
    String last = "";
    String next = "";
    for (RunningTaskView task : found) {
      if (after != null && BY_START.compare(task.invocation(), after) <= 0) {
        continue;
      }
      if (shown.size() == list.limit()) {
        next = last;
        break;
      }
      last = task.invocation().token();
      shown.add(list.item(ApiJson.running(task), REQUIRED_OF_RUNNING));
    }
    return CompletableFuture.completedFuture(
        Json.object()
            .put("published_at_ms", view.publishedAtMillis())
            .put("total", found.size())
            .put("running", new Json.Arr(shown))
            .put("next", next)
            .build());
  }

  /** Returns the invocation of a cursor; the time of its start does not matter. */
  private static Invocation invocation(String cursor) {
    int dot = cursor.indexOf('.');
    try {
      return new Invocation(
          Long.parseLong(cursor.substring(0, Math.max(0, dot))),
          Long.parseLong(cursor.substring(dot + 1)),
          0);
    } catch (NumberFormatException e) {
      throw ApiException.badRequest("the cursor \"after\" is not one of this list");
    }
  }
}
