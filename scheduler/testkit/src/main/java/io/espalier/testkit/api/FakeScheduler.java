package io.espalier.testkit.api;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.JobStarts;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.Query;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.LeadershipView;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.config.Config;
import io.espalier.core.health.ProbeView;
import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogReader;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  private final FakeTasks tasks = new FakeTasks(() -> view());
  private final List<Callback> reports = new ArrayList<>();
  private final Map<String, Callback.Outcome> callbacks = new LinkedHashMap<>();
  private final Map<String, WorkerView> workers = new LinkedHashMap<>();
  private final FakeBrakes brakes = new FakeBrakes();
  private final List<LogLine> logs = new ArrayList<>();
  private final List<String> withoutLogsOf = new ArrayList<>();
  private final List<Object> calls = Collections.synchronizedList(new ArrayList<>());
  private final Answers answers = new Answers();
  private final FakeCommands commands =
      new FakeCommands(tasks, workers, brakes, () -> view(), changed -> view = changed);
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
    brakes.withoutStore();
    return this;
  }

  /** From now on these workers do not confirm brakes. */
  public synchronized FakeScheduler withUnconfirmed(List<String> workers) {
    brakes.withUnconfirmed(workers);
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

  /** Sets the state of a job as a whole, since the view was published. */
  public FakeScheduler jobState(String job, JobState state, String reason) {
    boolean hasFailed = state == JobState.FAILED;
    return jobState(
        new JobStateRecord(
            job,
            state,
            reason,
            view().publishedAtMillis(),
            hasFailed ? reason : "",
            state == JobState.STOPPED,
            false,
            JobStateRecord.Start.ALL));
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
    tasks.put(task);
    return this;
  }

  /** Adds a running task. */
  public synchronized FakeScheduler runningTask(String job, String node, long startMillis) {
    tasks.run(job, node, startMillis);
    return this;
  }

  /** Adds a running task. */
  public synchronized FakeScheduler runningTask(RunningTaskView task) {
    tasks.run(task);
    return this;
  }

  /** Sets the past attempts of a task. */
  public synchronized FakeScheduler history(String job, String node, TaskHistory history) {
    tasks.history(job, node, history);
    return this;
  }

  /** Sets the answer of {@code explain}. */
  public synchronized FakeScheduler explains(Explanation explanation) {
    tasks.explain(explanation);
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

  /** Adds a worker whose output cannot be read, and why. */
  public synchronized FakeScheduler withoutLogsOf(String workerAndWhy) {
    withoutLogsOf.add(workerAndWhy);
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
      config.jobs().values().forEach(job -> progress.put(job.name(), tasks.progress(job)));
    }
    view =
        view.with()
            .progress(progress)
            .running(tasks.running())
            .pauses(commands.pauses())
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
        ? new LogPage(found.subList(0, query.limit()), found.get(query.limit()).id(), withoutLogsOf)
        : new LogPage(found, LogPage.END, withoutLogsOf);
  }

  @Override
  public CompletionStage<Map<String, TaskHistory>> histories(String job, Collection<String> nodes) {
    return answer(() -> done(tasks.histories(job, nodes)));
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
          CompletionStage<T> done = command.execute(commands, view.publishedAtMillis());
          calls.add(command);
          return done;
        });
  }

  @Override
  public List<GroupKindView> recentGroups() {
    return FakeReadings.groupKinds();
  }

  @Override
  public List<NotifierView> notifiers() {
    return FakeReadings.notifiers();
  }

  @Override
  public List<ResourceUse> recentResources() {
    return FakeReadings.resources();
  }

  @Override
  public List<JobStarts> startsOfJobs() {
    return List.of(new JobStarts("backup", 3, 4));
  }

  @Override
  public Map<String, NeverStarting> neverStarting() {
    return Map.of("backup", new NeverStarting(2, "it needs 2 of slots"));
  }

  @Override
  public List<QueueView> recentQueues() {
    return FakeReadings.queues();
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
      return done(tasks.histograms(query));
    }

    @Override
    public CompletionStage<TaskPage> tasks(Query.Tasks query) {
      return done(tasks.page(query));
    }

    @Override
    public CompletionStage<TaskView> task(Query.Task query) {
      return done(tasks.one(query));
    }

    @Override
    public CompletionStage<Explanation> explain(Query.Explain query) {
      return done(tasks.explain(query));
    }

    @Override
    public CompletionStage<TreeView> tree(Query.Tree query) {
      if (!query.job().isEmpty()) {
        tasks.known(query.job());
      }
      return done(queries().tree(query));
    }

    @Override
    public CompletionStage<NodeDetail> node(Query.Node query) {
      return done(queries().node(query.level(), query.node()));
    }

    @Override
    public CompletionStage<WaitingReasons> waiting(Query.Waiting query) {
      return done(queries().waiting(tasks.known(query.job())));
    }

    @Override
    public CompletionStage<FailureGroups> failures(Query.Failures query) {
      return done(queries().failures(tasks.known(query.job())));
    }

    @Override
    public CompletionStage<JobLevels> levels(Query.Levels query) {
      return done(queries().levels(tasks.known(query.job()), query.samples()));
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
      return done(FakeReadings.groups(query));
    }

    @Override
    public CompletionStage<JobEta> eta(Query.Eta query) {
      return done(FakeReadings.eta(tasks.known(query.job()), view.publishedAtMillis()));
    }

    @Override
    public CompletionStage<JobActivity> activity(Query.Activity query) {
      String job = query.job().isEmpty() ? "" : tasks.known(query.job()).name();
      return done(FakeReadings.activity(job, view.publishedAtMillis()));
    }

    @Override
    public CompletionStage<List<LimitView>> limits(Query.Limits query) {
      return done(commands.limits());
    }

    private FakeQueries queries() {
      return new FakeQueries(view, tasks::of);
    }
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
