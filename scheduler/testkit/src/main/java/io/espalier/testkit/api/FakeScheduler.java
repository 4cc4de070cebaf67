package io.espalier.testkit.api;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.LeadershipView;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.health.ProbeView;
import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogReader;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
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
  private final List<Callback> reports = new ArrayList<>();
  private final Map<String, Callback.Outcome> callbacks = new LinkedHashMap<>();
  private final Map<String, TaskHistory> histories = new LinkedHashMap<>();
  private final Map<String, Explanation> explanations = new LinkedHashMap<>();
  private final Map<String, WorkerView> workers = new LinkedHashMap<>();
  private final Map<String, Pause> paused = new TreeMap<>();
  private final Map<LimitOverride.Key, LimitView> limits = new LinkedHashMap<>();
  private final Map<Brake.Key, BrakeView> brakes = new LinkedHashMap<>();
  private final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();
  private boolean storeIsAway;
  private List<String> unconfirmed = List.of();
  private final List<LogLine> logs = new ArrayList<>();
  private final List<Object> calls = Collections.synchronizedList(new ArrayList<>());
  private final Answers answers = new Answers();
  private final Effects effects = new Effects();
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

  /** From now on brakes are not durable when they are answered. */
  public synchronized FakeScheduler withoutStore() {
    storeIsAway = true;
    return this;
  }

  /** From now on these workers do not confirm brakes. */
  public synchronized FakeScheduler withUnconfirmed(List<String> workers) {
    unconfirmed = workers;
    return this;
  }

  /** Puts a configuration and its nodes into force and publishes. */
  public synchronized FakeScheduler load(
      @Nullable Config config, @Nullable Topology topology, long nowMillis) {
    view =
        view.with()
            .config(config)
            .configProblems(config == null ? view.configProblems() : config.problems())
            .topology(topology)
            .nodesAtMillis(topology == null ? 0 : nowMillis)
            .publishedAtMillis(nowMillis)
            .build();
    return publish(nowMillis);
  }

  /** Sets the problems of the newest configuration. */
  public synchronized FakeScheduler problems(List<Problem> problems) {
    view = view.withConfigProblems(problems);
    return this;
  }

  /** Sets the state of a job as a whole; unknown until then. */
  public synchronized FakeScheduler jobState(JobStateRecord jobState) {
    Map<String, JobStateRecord> jobStates = new LinkedHashMap<>(view.jobStates());
    jobStates.put(jobState.job(), jobState);
    view = view.withJobStates(jobStates);
    return this;
  }

  /** Adds a probe to what monitors see. */
  public synchronized FakeScheduler probe(ProbeView probe) {
    List<ProbeView> probes = new ArrayList<>(view.probes());
    probes.add(probe);
    view = view.with().probes(probes).build();
    return this;
  }

  /** Sets the current errors by source. */
  public synchronized FakeScheduler errors(Map<String, String> errors) {
    view = view.withErrors(errors);
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
        TaskView.of(
            task.job(), task.node(), levelName(task.job()), status.bits(), status, task, 0));
  }

  /** Sets the past attempts of a task. */
  public synchronized FakeScheduler history(String job, String node, TaskHistory history) {
    histories.put(key(job, node), history);
    return this;
  }

  /** Returns the callbacks so far. */
  public synchronized List<Callback> callbacks() {
    return List.copyOf(reports);
  }

  /** Sets what becomes of the callbacks of an invocation. */
  public synchronized FakeScheduler callback(String invocation, Callback.Outcome outcome) {
    callbacks.put(invocation, outcome);
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
        view.with()
            .progress(progress)
            .running(List.copyOf(running.values()))
            .pauses(paused)
            .publishedAtMillis(nowMillis)
            .build();
    return this;
  }

  /**
   * Returns what was changed, in order: executed {@link Command}s, and words such as {@code "save
   * job"}.
   */
  public List<Object> calls() {
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
  public LogReader logs() {
    return LogReader.of(query -> answer(() -> CompletableFuture.completedFuture(page(query))));
  }

  private LogPage page(LogQuery query) {
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
  }

  @Override
  public CompletionStage<Map<String, TaskHistory>> histories(String job, Collection<String> nodes) {
    return answer(
        () -> {
          Map<String, TaskHistory> found = new TreeMap<>();
          for (String node : nodes) {
            TaskHistory history = histories.get(key(job, node));
            if (history != null) {
              found.put(node, history);
            }
          }
          return CompletableFuture.completedFuture(found);
        });
  }

  @Override
  public CompletionStage<Callback.Outcome> calledBack(Callback callback) {
    synchronized (this) {
      reports.add(callback);
    }
    return answer(
        () ->
            CompletableFuture.completedFuture(
                callback.signature().equals("forged")
                    ? Callback.Outcome.FORGED
                    : callbacks.getOrDefault(callback.invocation(), Callback.Outcome.RECORDED)));
  }

  @Override
  public <T> CompletionStage<T> ask(Query<T> query) {
    return answer(() -> query.answer(answers));
  }

  @Override
  public CompletionStage<byte[]> snapshot() {
    return CompletableFuture.completedFuture(new byte[] {1, 2, 3});
  }

  @Override
  public <T> CompletionStage<T> run(Command<T> command) {
    return answer(
        () -> {
          CompletionStage<T> done = command.execute(effects, view.publishedAtMillis());
          calls.add(command);
          return done;
        });
  }

  @Override
  public List<GroupKindView> recentGroups() {
    return List.of(
        new GroupKindView("replset", "host", "attribute:replset", 1, 2, 1, 1, 1, 1, 4, 3));
  }

  @Override
  public List<NotifierView> notifiers() {
    return List.of(
        new NotifierView(
            "ops",
            "webhook",
            "https://hooks.example/{secret}",
            2,
            1_700_000_000_000L,
            5,
            3,
            1,
            1_700_000_001_000L,
            1_699_999_000_000L,
            "answered with status 500"),
        new NotifierView(
            "pager",
            "webhook",
            "https://pager.example/v2",
            0,
            0,
            1,
            0,
            0,
            0,
            1_699_999_000_000L,
            ""));
  }

  @Override
  public List<ResourceUse> recentResources() {
    return List.of(new ResourceUse("host", "slots", 3, 10));
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

  private synchronized <T extends @Nullable Object> CompletionStage<T> answer(
      Supplier<CompletionStage<T>> question) {
    return gate.thenCompose(
        open -> {
          synchronized (this) {
            return question.get();
          }
        });
  }

  private static <T> CompletionStage<T> done(T answer) {
    return CompletableFuture.completedFuture(answer);
  }

  /** Answers from what the test has set. */
  private final class Answers implements Query.Handler {
    @Override
    public CompletionStage<List<Histogram>> histograms(Query.Histograms query) {
      return done(
          configuredJobs().stream()
              .filter(job -> job.isValid())
              .filter(job -> query.jobs().isEmpty() || query.jobs().contains(job.name()))
              .map(job -> histogram(job, query.samples()))
              .toList());
    }

    @Override
    public CompletionStage<TaskPage> tasks(Query.Tasks query) {
      Job job = known(query.job());
      List<TaskView> page = new ArrayList<>();
      boolean skipping = !query.after().isEmpty();
      String next = "";
      long total = 0;
      for (String node : nodesOf(job)) {
        TaskView task = taskOf(job, node);
        boolean wanted =
            (query.status().isEmpty() || query.status().equals(task.status()))
                && (query.under().isEmpty() || query.under().equals(parentOf(job, node)))
                && node.startsWith(query.nodePrefix())
                && node.contains(query.part());
        total += wanted ? 1 : 0;
        if (!skipping && wanted) {
          if (page.size() == query.limit()) {
            next = page.get(page.size() - 1).node();
          } else {
            page.add(task);
          }
        }
        skipping &= !node.equals(query.after());
      }
      return done(new TaskPage(page, next, query.counted() ? total : TaskPage.NOT_COUNTED));
    }

    @Override
    public CompletionStage<TaskView> task(Query.Task query) {
      Job job = known(query.job());
      return done(taskOf(job, knownNode(job, query.node())));
    }

    @Override
    public CompletionStage<Explanation> explain(Query.Explain query) {
      Job job = known(query.job());
      TaskView task = taskOf(job, knownNode(job, query.node()));
      Explanation startable =
          new Explanation(
              query.job(), query.node(), true, task.status(), List.of(), List.of(), List.of());
      return done(explanations.getOrDefault(key(query.job(), query.node()), startable));
    }

    @Override
    public CompletionStage<TreeView> tree(Query.Tree query) {
      if (!query.job().isEmpty()) {
        known(query.job());
      }
      return done(queries().tree(query));
    }

    @Override
    public CompletionStage<NodeDetail> node(Query.Node query) {
      return done(queries().node(query.level(), query.node()));
    }

    @Override
    public CompletionStage<WaitingReasons> waiting(Query.Waiting query) {
      return done(queries().waiting(known(query.job())));
    }

    @Override
    public CompletionStage<FailureGroups> failures(Query.Failures query) {
      return done(queries().failures(known(query.job())));
    }

    @Override
    public CompletionStage<JobEta> eta(Query.Eta query) {
      JobEta.Bottleneck narrow =
          new JobEta.Bottleneck(JobEta.Kind.RESOURCE, "host", "h1", "slots", 2, 30, 40);
      return done(
          new JobEta(known(query.job()).name(), view().publishedAtMillis(), 7, 2, 90, 120, narrow));
    }

    @Override
    public CompletionStage<JobActivity> activity(Query.Activity query) {
      String job = query.job().isEmpty() ? "" : known(query.job()).name();
      List<Integer> counts = Collections.nCopies(JobActivity.MINUTES, 3);
      long now = view().publishedAtMillis();
      return done(
          new JobActivity(
              job,
              now,
              new JobActivity.Minutes(0, counts, counts, counts),
              job.isEmpty() ? -1 : 2_000,
              job.isEmpty() ? -1 : 5_000,
              List.of(new JobActivity.Straggler("backup", "d11", now - 60_000, 5_000)),
              1));
    }

    @Override
    public CompletionStage<JobLevels> levels(Query.Levels query) {
      return done(queries().levels(known(query.job()), query.samples()));
    }

    @Override
    public CompletionStage<List<WorkerView>> workers(Query.Workers query) {
      return done(List.copyOf(workers.values()));
    }

    @Override
    public CompletionStage<List<QueueView>> queues(Query.Queues query) {
      return done(recentQueues());
    }

    @Override
    public CompletionStage<List<GroupKindView>> groupKinds(Query.GroupKinds query) {
      return done(recentGroups());
    }

    @Override
    public CompletionStage<GroupPage> groups(Query.Groups query) {
      if (!query.kind().equals("replset")) {
        throw new RefusedException(
            RefusedException.Reason.UNKNOWN, "there is no kind \"" + query.kind() + "\"");
      }
      return done(
          new GroupPage(
              List.of(
                  new GroupPage.Group(
                      "rs-1",
                      1,
                      2,
                      1,
                      List.of(
                          new GroupPage.Member("h1", 2, "backup", "d11"),
                          new GroupPage.Member("h2", 0, "", "")))),
              ""));
    }

    @Override
    public CompletionStage<List<LimitView>> limits(Query.Limits query) {
      return done(List.copyOf(limits.values()));
    }

    private FakeQueries queries() {
      return new FakeQueries(view, FakeScheduler.this::taskOf);
    }
  }

  /** Changes what the test has set. */
  private final class Effects implements Command.Handler {
    @Override
    public CompletionStage<SelectionResult> forgive(Command.Forgive command, long nowMillis) {
      SelectionResult result = select(command.tasks(), Set.of("failed"));
      if (result.changed() > 0) {
        for (String node : result.samples()) {
          TaskView task = taskOf(known(result.job()), node);
          TaskStatus error =
              TaskStatus.of(TaskStatus.Main.ERROR, task.sinceMillis(), task.attempts());
          task(TaskView.of(result.job(), node, task.level(), error.withData(task.data())));
        }
      }
      return done(result);
    }

    @Override
    public CompletionStage<SelectionResult> cancel(Command.Cancel command, long nowMillis) {
      SelectionResult result = select(command.tasks(), Set.of("unstarted", "failed", "running"));
      if (result.changed() > 0) {
        for (String node : result.samples()) {
          TaskView task = taskOf(known(result.job()), node);
          TaskStatus cancelled =
              TaskStatus.of(TaskStatus.Main.CANCELLED, task.sinceMillis(), task.attempts());
          task(TaskView.of(result.job(), node, task.level(), cancelled.withData(task.data())));
        }
      }
      return done(result);
    }

    @Override
    public CompletionStage<SelectionResult> rerun(Command.Rerun command, long nowMillis) {
      return done(select(command.tasks(), Set.of("failed", "done")));
    }

    /** Selects tasks with one of the statuses; all of them appear in the samples. */
    private SelectionResult select(TaskSelection selection, Set<String> statuses) {
      known(selection.job());
      TaskSelector selector = selection.selector();
      List<String> matching =
          tasks.values().stream()
              .filter(task -> task.job().equals(selection.job()))
              .filter(task -> statuses.contains(task.status()))
              .filter(task -> task.node().startsWith(selector.prefix()))
              .filter(task -> selector.nodes().isEmpty() || selector.nodes().contains(task.node()))
              .filter(
                  task ->
                      selector.statuses().isEmpty()
                          || selector.statuses().contains(StatusLabel.of(task.bits())))
              .map(TaskView::node)
              .toList();
      if (selection.expect() >= 0 && selection.expect() != matching.size()) {
        throw new RefusedException(
            RefusedException.Reason.CONFLICT,
            matching.size() + " tasks match, not " + selection.expect());
      }
      long changed = selection.preview() ? 0 : matching.size();
      return new SelectionResult(
          selection.job(), matching.size(), 0, matching, selection.preview(), changed);
    }

    @Override
    public CompletionStage<Void> kill(Command.Kill command, long nowMillis) {
      known(command.job());
      if (!running.containsKey(key(command.job(), command.node()))) {
        throw new RefusedException(
            RefusedException.Reason.CONFLICT,
            "task (" + command.job() + ", " + command.node() + ") is not running");
      }
      return CompletableFuture.allOf();
    }

    @Override
    public CompletionStage<TaskDeadlines> extend(Command.Extend command, long nowMillis) {
      known(command.job());
      RunningTaskView task = running.get(key(command.job(), command.node()));
      if (task == null || task.limits().endMillis() == Long.MAX_VALUE) {
        throw new RefusedException(
            RefusedException.Reason.CONFLICT,
            "task "
                + command.job()
                + " on "
                + command.node()
                + (task == null ? " is not running" : " has no limit"));
      }
      return done(task.limits().extended(command.millis()));
    }

    @Override
    public CompletionStage<Void> pause(Command.Pause command, long nowMillis) {
      String job = known(command.job()).name();
      long until = command.millis() == 0 ? 0 : nowMillis + command.millis();
      paused.put(job, new Pause(job, command.author(), command.reason(), nowMillis, until));
      view = view.withPauses(paused);
      return CompletableFuture.allOf();
    }

    @Override
    public CompletionStage<Rollout> halt(Command.Halt command, long nowMillis) {
      return done(rollout(command.job()).halted(command.reason(), command.author()));
    }

    @Override
    public CompletionStage<Rollout> promote(Command.Promote command, long nowMillis) {
      Rollout now = rollout(command.job());
      return done(now.opened(now.next(), 0, nowMillis));
    }

    private static Rollout firstStage(String job) {
      return Rollout.begun(job, 1, List.of("1", "100%"), List.of(1L, 3L), 1);
    }

    private Rollout rollout(String job) {
      return view.rollouts().getOrDefault(known(job).name(), firstStage(job));
    }

    @Override
    public CompletionStage<Void> resume(Command.Resume command, long nowMillis) {
      paused.remove(known(command.job()).name());
      view = view.withPauses(paused);
      return CompletableFuture.allOf();
    }

    @Override
    public CompletionStage<Long> stop(Command.Stop command, long nowMillis) {
      String job = command.job();
      return pause(new Command.Pause(job, 0, command.author(), command.reason()), nowMillis)
          .thenApply(
              done -> running.values().stream().filter(task -> task.job().equals(job)).count());
    }

    @Override
    public CompletionStage<LimitView> setLimit(Command.SetLimit command, long nowMillis) {
      LimitOverride override = command.override();
      Config config = view.config();
      if (config == null || config.settings().levels().find(override.level()) < 0) {
        throw new RefusedException(
            RefusedException.Reason.UNKNOWN, "there is no level \"" + override.level() + "\"");
      }
      LimitView set =
          new LimitView(
              new LimitOverride(
                  override.level(),
                  override.resource(),
                  override.node(),
                  override.limit(),
                  override.author(),
                  override.reason(),
                  nowMillis,
                  command.millis() == 0 ? 0 : nowMillis + command.millis()),
              2);
      limits.put(override.key(), set);
      return done(set);
    }

    @Override
    public CompletionStage<LimitView> endLimit(Command.EndLimit command, long nowMillis) {
      LimitView ended = limits.remove(command.key());
      if (ended == null) {
        throw new RefusedException(RefusedException.Reason.UNKNOWN, "no override");
      }
      return done(ended);
    }

    @Override
    public CompletionStage<Integer> pushProbe(Command.PushProbe command, long nowMillis) {
      ProbeView found =
          view.probes().stream()
              .filter(each -> each.probe().equals(command.probe()))
              .findFirst()
              .orElseThrow(
                  () ->
                      new RefusedException(
                          RefusedException.Reason.UNKNOWN,
                          "there is no probe \"" + command.probe() + "\""));
      return done(found.resources().size());
    }

    @Override
    public CompletionStage<String> testNotifier(Command.TestNotifier command, long nowMillis) {
      NotifierView found =
          notifiers().stream()
              .filter(each -> each.name().equals(command.notifier()))
              .findFirst()
              .orElseThrow(
                  () ->
                      new RefusedException(
                          RefusedException.Reason.UNKNOWN,
                          "there is no notifier \"" + command.notifier() + "\""));
      return done(found.lastError());
    }

    @Override
    public CompletionStage<BrakeView> brake(Command.SetBrake command, long nowMillis) {
      Brake brake = command.brake();
      BrakeView set =
          new BrakeView(
              Brake.of(brake.key(), brake.millionths())
                  .ramp(brake.ramp())
                  .author(brake.author())
                  .reason(brake.reason())
                  .sinceMillis(nowMillis)
                  .untilMillis(command.millis() == 0 ? 0 : nowMillis + command.millis())
                  .throttlesRunning(brake.throttlesRunning())
                  .build(),
              brake.millionths(),
              !storeIsAway,
              unconfirmed);
      brakes.put(brake.key(), set);
      view = view.with().brakes(List.copyOf(brakes.values())).build();
      return done(set);
    }

    @Override
    public CompletionStage<BrakeView> release(Command.ReleaseBrake command, long nowMillis) {
      BrakeView released = brakes.remove(command.key());
      if (released == null) {
        throw new RefusedException(RefusedException.Reason.UNKNOWN, "no brake");
      }
      view = view.with().brakes(List.copyOf(brakes.values())).build();
      return done(new BrakeView(released.brake().withReleasedMillis(nowMillis), Brake.ONE, true));
    }

    @Override
    public CompletionStage<Quarantine> quarantine(Command.SetQuarantine command, long nowMillis) {
      Quarantine set =
          Quarantine.ordered(command.key(), command.author(), command.reason(), nowMillis);
      quarantines.put(set.key(), set);
      view = view.with().quarantines(List.copyOf(quarantines.values())).build();
      return done(set);
    }

    @Override
    public CompletionStage<Quarantine> lift(Command.LiftQuarantine command, long nowMillis) {
      Quarantine lifted = quarantines.remove(command.key());
      if (lifted == null) {
        throw new RefusedException(RefusedException.Reason.UNKNOWN, "no quarantine");
      }
      view = view.with().quarantines(List.copyOf(quarantines.values())).build();
      return done(lifted);
    }

    @Override
    public CompletionStage<WorkerView> cordon(Command.Cordon command, long nowMillis) {
      WorkerCordon cordon =
          new WorkerCordon(
              command.worker(), command.kind(), command.author(), command.reason(), nowMillis);
      boolean drains = command.kind() == WorkerCordon.Kind.DRAIN;
      return done(cordoned(command.worker(), drains ? "draining" : "healthy", cordon));
    }

    @Override
    public CompletionStage<Boolean> report(Command.Report command, long nowMillis) {
      return done(true);
    }

    @Override
    public CompletionStage<WorkerView> uncordon(Command.Uncordon command, long nowMillis) {
      return done(cordoned(command.worker(), "healthy", null));
    }

    private WorkerView cordoned(String id, String state, @Nullable WorkerCordon cordon) {
      WorkerView old = workers.get(id);
      if (old == null) {
        throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such worker: " + id);
      }
      WorkerView worker =
          new WorkerView(
              old.ref(),
              old.host(),
              old.address(),
              old.labels(),
              state,
              cordon == null,
              cordon,
              old.tasks(),
              old.maxTasks(),
              old.slots(),
              old.sinceMillis(),
              old.lastSeenMillis(),
              old.note(),
              old.load(),
              old.figures(),
              old.measuredMillis());
      workers.put(id, worker);
      return worker;
    }
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

  private synchronized String parentOf(Job job, String node) {
    Topology topology = Objects.requireNonNull(view.topology());
    int number = topology.find(job.level(), node);
    return topology.name(topology.parent(topology.slot(number, 0)));
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
            job.name(),
            node,
            levelName(job.name()),
            TaskStatus.Main.UNSTARTED.bit(),
            null,
            null,
            0);
  }

  private synchronized String levelName(String job) {
    Config config = view.config();
    Job found = config == null ? null : config.job(job);
    return config == null || found == null ? "" : config.settings().levels().name(found.level());
  }

  private JobProgress progress(Job job) {
    long[] count = new long[6];
    for (String node : nodesOf(job)) {
      String status = taskOf(job, node).status();
      switch (status) {
        case "done" -> count[0]++;
        case "failed" -> count[1]++;
        case "running" -> count[2]++;
        case "error_backoff", "incomplete_backoff" -> count[3]++;
        case "cancelled" -> count[5]++;
        default -> count[4]++;
      }
    }
    boolean mayStart = FakeQueries.mayStart(view, job);
    return JobProgress.of(
        job.name(),
        count[0],
        count[1],
        count[5],
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
