package io.espalier.testkit.api;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.FailureGroups;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobLevels;
import io.espalier.core.api.JobProgress;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.LeadershipView;
import io.espalier.core.api.LimitView;
import io.espalier.core.api.NodeDetail;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.QueueView;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.RunningTaskView;
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
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler that starts nothing: tests set its state and inspect the commands it received.
 * Thread-safe.
 */
public final class FakeScheduler implements SchedulerApi {
  private final FakeEventFeed events;
  private final Map<String, TaskView> tasks = new LinkedHashMap<>();
  private final Map<String, RunningTaskView> running = new LinkedHashMap<>();
  private final Map<String, TaskHistory> histories = new LinkedHashMap<>();
  private final Map<String, Explanation> explanations = new LinkedHashMap<>();
  private final Map<String, WorkerView> workers = new LinkedHashMap<>();
  private final Map<String, Pause> paused = new TreeMap<>();
  private final Map<LimitOverride.Key, LimitView> limits = new LinkedHashMap<>();
  private final List<LogLine> logs = new ArrayList<>();
  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private final FakeJobVersions jobVersions = new FakeJobVersions(calls::add);
  private SchedulerView view = SchedulerView.EMPTY;
  private ProblemAges problemAges = ProblemAges.NONE;
  private CompletionStage<?> gate = CompletableFuture.completedFuture(null);

  /** Creates a scheduler that keeps the last 1000 events. */
  public FakeScheduler() {
    this(new FakeEventFeed(1000));
  }

  public FakeScheduler(FakeEventFeed events) {
    this.events = events;
  }

  /** Puts a configuration and its nodes into force and publishes. */
  public synchronized FakeScheduler load(
      @Nullable Config config, @Nullable Topology topology, long nowMillis) {
    view =
        view.toBuilder()
            .config(config)
            .configProblems(config == null ? view.configProblems() : config.problems())
            .topology(topology, topology == null ? 0 : nowMillis)
            .publishedAtMillis(nowMillis)
            .build();
    return publish(nowMillis);
  }

  /** Sets the problems of the newest configuration. */
  public synchronized FakeScheduler problems(List<Problem> problems) {
    view = view.toBuilder().configProblems(problems).build();
    return this;
  }

  /** Sets the state of a job as a whole; unknown until then. */
  public synchronized FakeScheduler stands(JobStateRecord standing) {
    Map<String, JobStateRecord> standings = new LinkedHashMap<>(view.standings());
    standings.put(standing.job(), standing);
    view = view.toBuilder().standings(standings).build();
    return this;
  }

  /** Sets the current errors by source. */
  public synchronized FakeScheduler errors(Map<String, String> errors) {
    view = view.toBuilder().errors(errors).build();
    return this;
  }

  /** Sets the status of a task; a running one also appears among the running tasks. */
  public synchronized FakeScheduler task(TaskView task) {
    tasks.put(key(task.job(), task.node()), task);
    return this;
  }

  /** Adds a running task. */
  public synchronized FakeScheduler runningTask(String job, String node, long startMillis) {
    Invocation invocation = new Invocation(1, running.size() + 1L, startMillis);
    return runningTask(RunningTaskView.of(job, node, invocation, 1, "here"));
  }

  /** Adds a running task. */
  public synchronized FakeScheduler runningTask(RunningTaskView task) {
    running.put(key(task.job(), task.node()), task);
    Progress progress = task.progress();
    TaskStatus status =
        TaskStatus.of(TaskStatus.Main.RUNNING, task.invocation().startMillis(), task.attempt())
            .withCheckpoint(progress == null ? null : progress.json());
    return task(
        TaskView.of(task.job(), task.node(), levelName(task.job()), status.bits(), status, task));
  }

  /** Sets the past attempts of a task. */
  public synchronized FakeScheduler history(String job, String node, TaskHistory history) {
    histories.put(key(job, node), history);
    return this;
  }

  /** Sets the answer of {@code explain}. */
  public synchronized FakeScheduler explains(Explanation explanation) {
    explanations.put(key(explanation.job(), explanation.node()), explanation);
    return this;
  }

  /** Adds a worker, or replaces the one with the same shard. */
  public synchronized FakeScheduler worker(WorkerView worker) {
    workers.put(worker.ref().shard(), worker);
    return this;
  }

  /** Adds a line of output. */
  public synchronized FakeScheduler log(LogLine line) {
    logs.add(line);
    return this;
  }

  /** Prevents stages from completing from now on. */
  public FakeScheduler silent() {
    return answersAfter(new CompletableFuture<>());
  }

  /** Makes stages complete after this one, on its thread, and fail when it fails. */
  public synchronized FakeScheduler answersAfter(CompletionStage<?> newGate) {
    gate = newGate;
    return this;
  }

  /** Publishes a view of everything set so far. */
  public synchronized FakeScheduler publish(long nowMillis) {
    Map<String, JobProgress> progress = new LinkedHashMap<>();
    Config config = view.config();
    if (config != null) {
      config.jobs().values().forEach(job -> progress.put(job.name(), progress(job)));
    }
    view =
        view.toBuilder()
            .progress(progress)
            .running(List.copyOf(running.values()))
            .pauses(paused)
            .publishedAtMillis(nowMillis)
            .build();
    return this;
  }

  /** Returns the received commands, such as {@code "kill job node"}, in order. */
  public List<String> calls() {
    synchronized (calls) {
      return List.copyOf(calls);
    }
  }

  @Override
  public synchronized SchedulerView view() {
    return view;
  }

  /** Sets since when problems have existed. */
  public synchronized FakeScheduler problemAges(ProblemAges newest) {
    problemAges = newest;
    return this;
  }

  @Override
  public synchronized ProblemAges problemAges() {
    return problemAges;
  }

  @Override
  public FakeEventFeed events() {
    return events;
  }

  @Override
  public CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples) {
    return answer(
        () ->
            configuredJobs().stream()
                .filter(job -> job.isValid() && (jobs.isEmpty() || jobs.contains(job.name())))
                .map(job -> histogram(job, samples))
                .toList());
  }

  @Override
  public CompletionStage<TaskPage> tasks(TaskQuery query) {
    return answer(
        () -> {
          Job job = known(query.job());
          List<TaskView> page = new ArrayList<>();
          boolean skipping = !query.after().isEmpty();
          for (String node : nodesOf(job)) {
            TaskView task = taskOf(job, node);
            boolean wanted =
                (query.status().isEmpty() || query.status().equals(task.status()))
                    && node.startsWith(query.nodePrefix());
            if (!skipping && wanted) {
              if (page.size() == query.limit()) {
                return new TaskPage(page, page.get(page.size() - 1).node());
              }
              page.add(task);
            }
            skipping &= !node.equals(query.after());
          }
          return new TaskPage(page, "");
        });
  }

  @Override
  public CompletionStage<TaskView> task(String job, String node) {
    return answer(() -> taskOf(known(job), knownNode(known(job), node)));
  }

  @Override
  public CompletionStage<TaskHistory> history(String job, String node) {
    return answer(() -> histories.getOrDefault(key(job, node), TaskHistory.EMPTY));
  }

  @Override
  public CompletionStage<Explanation> explain(String job, String node) {
    return answer(
        () -> {
          TaskView task = taskOf(known(job), knownNode(known(job), node));
          Explanation startable =
              new Explanation(job, node, true, task.status(), List.of(), List.of(), List.of());
          return explanations.getOrDefault(key(job, node), startable);
        });
  }

  @Override
  public CompletionStage<TreeView> tree(TreeQuery query) {
    return answer(
        () -> {
          if (!query.job().isEmpty()) {
            known(query.job());
          }
          return queries().tree(query);
        });
  }

  @Override
  public CompletionStage<NodeDetail> node(String level, String node) {
    return answer(() -> queries().node(level, node));
  }

  @Override
  public CompletionStage<WaitingReasons> waiting(String job) {
    return answer(() -> queries().waiting(known(job)));
  }

  @Override
  public CompletionStage<FailureGroups> failures(String job, int limit) {
    return answer(() -> queries().failures(known(job)));
  }

  @Override
  public CompletionStage<JobLevels> levels(String job, int samples) {
    return answer(() -> queries().levels(known(job), samples));
  }

  private synchronized FakeQueries queries() {
    return new FakeQueries(view, this::taskOf);
  }

  @Override
  public CompletionStage<LogPage> logs(LogQuery query) {
    return answer(
        () -> {
          Comparator<LogLine> byId = Comparator.comparingLong(LogLine::id);
          BoundedRegexSearch search = new BoundedRegexSearch(query.regex());
          List<LogLine> found =
              logs.stream()
                  .filter(query::wants)
                  .filter(line -> search.isIn(line.text()))
                  .sorted(query.ascending() ? byId : byId.reversed())
                  .limit(query.limit() + 1L)
                  .toList();
          boolean more = found.size() > query.limit();
          return more
              ? new LogPage(found.subList(0, query.limit()), found.get(query.limit()).id())
              : new LogPage(found, -1);
        });
  }

  @Override
  public CompletionStage<Long> forgive(List<String> jobs) {
    return answer(
        () -> {
          long changed = 0;
          for (String name : jobs) {
            known(name);
            calls.add("forgive " + name);
            for (TaskView task : List.copyOf(tasks.values())) {
              if (task.job().equals(name) && task.status().equals("failed")) {
                task(
                    TaskView.of(
                        name,
                        task.node(),
                        task.level(),
                        TaskStatus.of(TaskStatus.Main.ERROR, task.sinceMillis(), task.attempts())
                            .withData(task.data())));
                changed++;
              }
            }
          }
          return changed;
        });
  }

  @Override
  public CompletionStage<List<WorkerView>> workers() {
    return answer(() -> List.copyOf(workers.values()));
  }

  @Override
  public CompletionStage<WorkerView> hold(String shard, WorkerCordon.Kind kind, String reason) {
    return answer(
        () -> {
          calls.add(
              kind.name().toLowerCase(Locale.ROOT)
                  + " "
                  + shard
                  + (reason.isEmpty() ? "" : " (" + reason + ")"));
          WorkerCordon hold = new WorkerCordon(shard, kind, "", reason, view.publishedAtMillis());
          return held(shard, kind == WorkerCordon.Kind.DRAIN ? "draining" : "healthy", hold);
        });
  }

  @Override
  public CompletionStage<WorkerView> release(String shard, String reason) {
    return answer(
        () -> {
          calls.add("uncordon " + shard);
          return held(shard, "healthy", null);
        });
  }

  private WorkerView held(String shard, String state, @Nullable WorkerCordon hold) {
    WorkerView old = workers.get(shard);
    if (old == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such worker: " + shard);
    }
    WorkerView worker =
        new WorkerView(
            old.ref(),
            old.host(),
            old.address(),
            state,
            hold == null,
            hold,
            old.tasks(),
            old.maxTasks(),
            old.slots(),
            old.sinceMillis(),
            old.lastSeenMillis(),
            old.note());
    workers.put(shard, worker);
    return worker;
  }

  @Override
  public CompletionStage<Void> kill(String job, String node) {
    return change(
        () -> {
          known(job);
          if (!running.containsKey(key(job, node))) {
            throw new RefusedException(
                RefusedException.Reason.CONFLICT,
                "task (" + job + ", " + node + ") is not running");
          }
          calls.add("kill " + job + " " + node);
        });
  }

  @Override
  public CompletionStage<TaskDeadlines> extend(String job, String node, long millis) {
    return answer(
        () -> {
          known(job);
          RunningTaskView task = running.get(key(job, node));
          if (task == null || task.limits().endMillis() == Long.MAX_VALUE) {
            throw new RefusedException(
                RefusedException.Reason.CONFLICT,
                "task "
                    + job
                    + " on "
                    + node
                    + (task == null ? " is not running" : " has no limit"));
          }
          calls.add("extend " + job + " " + node + " " + millis);
          return task.limits().extended(millis);
        });
  }

  @Override
  public CompletionStage<Void> pause(String job, String reason) {
    return pause(job, "", reason, 0);
  }

  @Override
  public CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return change(
        () -> {
          known(job);
          long since = view.publishedAtMillis();
          paused.put(job, new Pause(job, author, reason, since, millis == 0 ? 0 : since + millis));
          view = view.toBuilder().pauses(paused).build();
          calls.add(
              "pause "
                  + job
                  + (reason.isEmpty() ? "" : " (" + reason + ")")
                  + (millis == 0 ? "" : " for " + millis + " ms"));
        });
  }

  @Override
  public CompletionStage<Void> resume(String job) {
    return change(
        () -> {
          known(job);
          paused.remove(job);
          view = view.toBuilder().pauses(paused).build();
          calls.add("resume " + job);
        });
  }

  @Override
  public CompletionStage<Long> stop(String job, String author, String reason) {
    return pause(job, author, reason, 0)
        .thenApply(
            done -> {
              synchronized (this) {
                return running.values().stream().filter(task -> task.job().equals(job)).count();
              }
            });
  }

  @Override
  public CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return select("rerun", selection);
  }

  @Override
  public CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return select("forgive", selection);
  }

  private CompletionStage<SelectionResult> select(String what, TaskSelection selection) {
    return answer(
        () -> {
          known(selection.job());
          List<String> matching =
              tasks.values().stream()
                  .filter(task -> task.job().equals(selection.job()))
                  .filter(task -> task.node().startsWith(selection.selector().prefix()))
                  .filter(
                      task ->
                          selection.selector().nodes().isEmpty()
                              || selection.selector().nodes().contains(task.node()))
                  .filter(
                      task ->
                          selection.selector().statuses().isEmpty()
                              || selection
                                  .selector()
                                  .statuses()
                                  .contains(StatusLabel.of(task.bits())))
                  .map(TaskView::node)
                  .toList();
          if (selection.expect() >= 0 && selection.expect() != matching.size()) {
            throw new RefusedException(
                RefusedException.Reason.CONFLICT,
                matching.size() + " tasks match, not " + selection.expect());
          }
          calls.add(what + " " + selection.job() + " " + selection.selector());
          long changed = selection.preview() ? 0 : matching.size();
          return new SelectionResult(
              selection.job(), matching.size(), 0, matching, selection.preview(), changed);
        });
  }

  @Override
  public CompletionStage<List<QueueView>> queues() {
    return answer(this::recentQueues);
  }

  @Override
  public List<QueueView> recentQueues() {
    return List.of(
        new QueueView(
            "etl",
            0.5,
            OptionalDouble.empty(),
            3,
            2,
            1,
            40,
            0.25,
            0.125,
            0.0625,
            1,
            List.of(new QueueView.Held("slots", 3, 5, 12), new QueueView.Held("locks", 1, -1, 4))));
  }

  @Override
  public CompletionStage<List<LimitView>> limits() {
    return answer(() -> List.copyOf(limits.values()));
  }

  @Override
  public CompletionStage<LimitView> setLimit(LimitOverride override, long millis) {
    return answer(
        () -> {
          Config config = view.config();
          if (config == null || config.settings().levels().find(override.level()) < 0) {
            throw new RefusedException(
                RefusedException.Reason.UNKNOWN, "there is no level \"" + override.level() + "\"");
          }
          long since = view.publishedAtMillis();
          LimitView set =
              new LimitView(
                  new LimitOverride(
                      override.level(),
                      override.resource(),
                      override.node(),
                      override.limit(),
                      override.author(),
                      override.reason(),
                      since,
                      millis == 0 ? 0 : since + millis),
                  2);
          limits.put(override.key(), set);
          calls.add("limit " + override.key() + " " + override.limit());
          return set;
        });
  }

  @Override
  public CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return answer(
        () -> {
          LimitView ended = limits.remove(key);
          if (ended == null) {
            throw new RefusedException(RefusedException.Reason.UNKNOWN, "no override");
          }
          calls.add("end limit " + key);
          return ended;
        });
  }

  private CompletionStage<Void> change(Runnable change) {
    return answer(
        () -> {
          change.run();
          return null;
        });
  }

  private synchronized <T extends @Nullable Object> CompletionStage<T> answer(
      Supplier<T> question) {
    return gate.thenApply(
        open -> {
          synchronized (this) {
            return question.get();
          }
        });
  }

  private synchronized List<Job> configuredJobs() {
    Config config = view.config();
    return config == null ? List.of() : List.copyOf(config.jobs().values());
  }

  private Job known(String name) {
    return configuredJobs().stream()
        .filter(job -> job.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new RefusedException(
                    RefusedException.Reason.UNKNOWN, "there is no job \"" + name + "\""));
  }

  private String knownNode(Job job, String node) {
    if (!nodesOf(job).contains(node)) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "there is no node \"" + node + "\" on the level of " + job.name());
    }
    return node;
  }

  private synchronized List<String> nodesOf(Job job) {
    Topology topology = view.topology();
    List<String> names = new ArrayList<>();
    if (topology != null) {
      for (int n = topology.levelStart(job.level()); n < topology.levelEnd(job.level()); n++) {
        names.add(topology.name(n));
      }
    }
    return names;
  }

  private synchronized TaskView taskOf(Job job, String node) {
    TaskView known = tasks.get(key(job.name(), node));
    return known != null
        ? known
        : TaskView.of(
            job.name(), node, levelName(job.name()), TaskStatus.Main.UNSTARTED.bit(), null, null);
  }

  private synchronized String levelName(String job) {
    Config config = view.config();
    Job found = config == null ? null : config.job(job);
    return config == null || found == null ? "" : config.settings().levels().name(found.level());
  }

  private JobProgress progress(Job job) {
    long[] count = new long[5];
    for (String node : nodesOf(job)) {
      String status = taskOf(job, node).status();
      switch (status) {
        case "done" -> count[0]++;
        case "failed" -> count[1]++;
        case "running" -> count[2]++;
        case "error_backoff", "incomplete_backoff" -> count[3]++;
        default -> count[4]++;
      }
    }
    boolean mayStart = FakeQueries.mayStart(view, job);
    return JobProgress.of(
        job.name(),
        count[0],
        count[1],
        count[2],
        count[3],
        mayStart ? count[4] : 0,
        mayStart ? 0 : count[4],
        0,
        0);
  }

  private synchronized Histogram histogram(Job job, int samples) {
    Map<String, Map<Integer, Histogram.Bucket>> levels = new LinkedHashMap<>();
    Topology topology = view.topology();
    if (topology == null) {
      return new Histogram(job.name(), levels);
    }
    int[] bits = new int[topology.size()];
    for (int n = topology.levelStart(job.level()); n < topology.levelEnd(job.level()); n++) {
      int own = taskOf(job, topology.name(n)).bits();
      for (int at = n; at >= 0; at = topology.parent(topology.slot(at, 0))) {
        bits[at] |= own;
      }
    }
    for (int n = 0; n < topology.levelEnd(job.level()); n++) {
      Map<Integer, Histogram.Bucket> level =
          levels.computeIfAbsent(topology.levels().name(topology.level(n)), l -> new TreeMap<>());
      Histogram.Bucket old = level.getOrDefault(bits[n], new Histogram.Bucket(0, List.of()));
      List<String> names = new ArrayList<>(old.samples());
      if (names.size() < samples) {
        names.add(topology.name(n));
      }
      level.put(bits[n], new Histogram.Bucket(old.count() + 1, names));
    }
    return new Histogram(job.name(), levels);
  }

  private static String key(String job, String node) {
    return job + "\n" + node;
  }

  @Override
  public JobVersions jobVersions() {
    return jobVersions;
  }

  @Override
  public LeadershipControl leadership() {
    return new LeadershipControl() {
      @Override
      public LeadershipView view() {
        return new LeadershipView(
            true, 7, 4_000, List.of("127.0.0.1:8080", "127.0.0.1:8082"), null);
      }

      @Override
      public void stepDown(String reason) {
        calls.add("step down: " + reason);
      }
    };
  }
}
