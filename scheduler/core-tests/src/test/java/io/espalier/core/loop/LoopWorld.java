package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.config.Config;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Throttle;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.CoreEventListener;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A loop with the production core, and a world that does only what the test says. */
final class LoopWorld {
  long now = 1_000_000;
  private long epochs = 1;
  private Map<String, Long> madeAgain = Map.of();
  boolean saturated;
  boolean storeAnswers = true;

  /** Whether the runner asks about calls that it did not make. */
  boolean makesCalls = true;

  /** The runner says of each start that it is confirmed; the test says when. */
  boolean confirmsStarts;

  /** Tasks outlive the scheduler, as those of workers do. */
  boolean isRemote;

  final List<String> warnings = new ArrayList<>();
  final List<Event> events = new ArrayList<>();

  /** Ends that the runner may forget, and what was stored of their tasks at that moment. */
  final List<TaskResult> recorded = new ArrayList<>();

  final List<String> storedWhenRecorded = new ArrayList<>();
  final List<String> kills = new ArrayList<>();
  final List<String> extensions = new ArrayList<>();

  /** What running tasks were told about their speed. */
  final List<String> throttles = new ArrayList<>();

  /** Whether the runner takes starts back and says so later; and what it was asked to. */
  boolean takesBack;

  final List<LaunchSpec> recalls = new ArrayList<>();

  /** The runner forgets tasks and never says so. */
  boolean lostEnds;

  final Map<TaskKey, StatusRow> stored = new LinkedHashMap<>();
  final List<Attempt> attempts = new ArrayList<>();
  final Map<String, Pause> pauses = new LinkedHashMap<>();
  final Map<LimitOverride.Key, LimitOverride> limits = new LinkedHashMap<>();
  final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  final Map<RolloutRow.Key, RolloutRow> rollouts = new LinkedHashMap<>();
  final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();
  final Map<Notification.Key, Notification> notifications = new LinkedHashMap<>();

  /** What was handed to receivers, and how they answer. */
  final List<Notification> sent = new ArrayList<>();

  Function<Notification, CompletionStage<String>> receiver =
      notification -> CompletableFuture.completedFuture("");

  final Map<String, JobStateRecord> jobStates = new LinkedHashMap<>();
  List<QueueUsage> queueUsage = List.of();
  final Map<String, JobDurations> durations = new LinkedHashMap<>();
  int queueSamples;
  final Map<String, Long> incarnations = new HashMap<>();
  final Map<TaskKey, LaunchSpec> running = new LinkedHashMap<>();
  final List<LaunchSpec> launches = new ArrayList<>();

  /** The nodes of each batch that the runner was handed. */
  final List<List<String>> batches = new ArrayList<>();

  /** Calls that the runner was asked to take over. */
  final List<LaunchSpec> adopted = new ArrayList<>();

  final List<Invocation> letGo = new ArrayList<>();
  final CallbackSigner callbacks = new CallbackSigner("key");

  private final Deque<Runnable> unanswered = new ArrayDeque<>();
  private final Deque<LoopInput> inbox = new ArrayDeque<>();
  private final PlugIns plugIns = new PlugIns();
  @Nullable SchedulerView view;
  SchedulingCore core;
  SchedulerLoop loop;

  /** Whatever a test does, its events have only the members that docs/events.md describes. */
  private void happened(List<Event> news) {
    for (Event event : news) {
      EventKind kind = Objects.requireNonNull(EventKind.of(event.kind()), event.kind());
      assertThat(kind.members()).as(event.kind()).containsAll(event.data().members().keySet());
    }
    events.addAll(news);
  }

  LoopWorld() {
    this(0);
  }

  LoopWorld(int maxAttempts) {
    this(maxAttempts, event -> {});
  }

  /** The recorder takes all that happens to the core, until it is restarted. */
  LoopWorld(int maxAttempts, CoreEventListener recorder) {
    core = new SchedulingCore(7, plugIns.selectors);
    core.recordTo(recorder);
    loop = newLoop(1, maxAttempts);
  }

  /** Replays what was recorded in a new core. */
  Replay.Summary replay(List<CoreEvent> recorded) {
    return new Replay(
            new SchedulingCore(7, plugIns.selectors), plugIns.policies, recorded.iterator())
        .run();
  }

  /** What a restart after a crash leaves: the store, nothing else. */
  void crashAndRestart() {
    inbox.clear();
    unanswered.clear();
    if (!isRemote) {
      running.clear();
    }
    core = new SchedulingCore(8, plugIns.selectors);
    loop = newLoop(++epochs, 0);
    List<StatusRow> alive =
        stored.values().stream()
            .filter(row -> row.status().main() == TaskStatus.Main.RUNNING)
            .toList();
    loop.restore(
        new RestoredState(
            List.copyOf(pauses.values()),
            List.copyOf(jobStates.values()),
            List.copyOf(limits.values()),
            List.copyOf(brakes.values()),
            List.copyOf(rollouts.values()),
            List.copyOf(quarantines.values()),
            queueUsage,
            List.copyOf(durations.values()),
            List.of(),
            isRemote ? alive : alive.stream().filter(row -> row.call() != null).toList(),
            notifications.values().stream()
                .sorted(Comparator.comparingLong(Notification::sequence))
                .toList()));
  }

  private SchedulerLoop newLoop(long epoch, int maxAttempts) {
    return new SchedulerLoop(
        core,
        plugIns.policies,
        new StatusParser(JsonReader::parse),
        new LoopPorts(
            new Runner(),
            new Commits(),
            this::happened,
            published -> view = published,
            (message, job, node) -> warnings.add(job + "/" + node + ": " + message),
            action -> inbox.add(new LoopInput.Deferred(action)),
            (to, what) -> {
              sent.add(what);
              return receiver.apply(what);
            }),
        new LoopOptions(
            epoch,
            "here",
            "testhost",
            maxAttempts,
            events.isEmpty() ? 1 : events.get(events.size() - 1).sequence() + 1,
            callbacks));
  }

  /** Brings a configuration in force, with the stored statuses of what is new in it. */
  void configure(String json) {
    CompletionStage<Void> inForce = update(prepare(json));
    settle();
    if (!inForce.toCompletableFuture().isDone()) {
      throw new AssertionError("the change is not in force");
    }
  }

  /** A configuration with what is stored at this moment of what is new in it. */
  PreparedUpdate prepare(String json) {
    Config config = plugIns.config(json);
    UpdatePlan change = core.prepare(config, plugIns.nodes(config, now));
    CompletableFuture<@Nullable Void> mayRead = new CompletableFuture<>();
    post(new LoopInput.WillRead(change, mayRead));
    settle();
    if (!mayRead.isDone()) {
      throw new AssertionError("what is stored cannot be read before it is durable");
    }
    List<StatusRow> rows =
        stored.values().stream()
            .filter(
                row ->
                    change.newTasks().jobs().contains(row.job())
                        || change.newTasks().nodes().stream()
                            .anyMatch(n -> n.jobs().contains(row.job())))
            .filter(row -> !madeAgain.containsKey(row.job()))
            .toList();
    return new PreparedUpdate(change, rows, now, madeAgain.keySet(), madeAgain);
  }

  /** The same, for a job that was deleted and made again. */
  void configureAnew(String json, String job, long createTime) {
    madeAgain = Map.of(job, createTime);
    configure(json);
    madeAgain = Map.of();
  }

  /** Steps until the loop wants to sleep and nobody has work for it. */
  void settle() {
    for (int i = 0; i < 10_000; i++) {
      Duration pause = step();
      if (inbox.isEmpty() && (!pause.isZero() || loop.isQuiet())) {
        return;
      }
    }
    throw new AssertionError("the loop does not come to rest");
  }

  /** One step, after what the loop has been told so far. */
  Duration step() {
    return loop.runOnce(now, inbox);
  }

  /** Tells the loop something, which takes effect in its next step. */
  void post(LoopInput input) {
    inbox.add(input);
  }

  /**
   * Brings a prepared configuration in force, in the next steps. As in production, rows of new jobs
   * come after the update, here in two portions.
   */
  CompletionStage<Void> update(PreparedUpdate update) {
    if (update.plan().newTasks().jobs().isEmpty()) {
      CompletableFuture<Void> inForce = new CompletableFuture<>();
      post(new LoopInput.Update(update, inForce));
      return inForce;
    }
    CompletionStage<Void> inForce = updateWithoutRows(update);
    List<StatusRow> rows = update.rows();
    int half = rows.size() / 2;
    post(new LoopInput.StoredRows(rows.subList(0, half), false, Map.of()));
    post(new LoopInput.StoredRows(rows.subList(half, rows.size()), true, Map.of()));
    return inForce;
  }

  /** Begins with a prepared configuration, whose rows are to follow. */
  CompletionStage<Void> updateWithoutRows(PreparedUpdate update) {
    CompletableFuture<Void> inForce = new CompletableFuture<>();
    PreparedUpdate without =
        new PreparedUpdate(
            update.plan(),
            List.of(),
            true,
            update.nodesAtMillis(),
            update.forgotten(),
            update.incarnations());
    post(new LoopInput.Update(without, inForce));
    return inForce;
  }

  /** Executes a command in the next step. */
  <T> CompletionStage<T> run(Command<T> command) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    post(new LoopInput.Execute<>(command, answer));
    return answer;
  }

  /** Executes a command, which must be done when the loop has come to rest. */
  <T> T done(Command<T> command) {
    return done(run(command));
  }

  /** Returns what must have come when the loop has come to rest. */
  <T> T done(CompletionStage<T> stage) {
    settle();
    assertThat(stage.toCompletableFuture()).isDone();
    return stage.toCompletableFuture().join();
  }

  /** Takes what the service of a call reports; returns whether the call was alive. */
  boolean reports(Call call, String said) {
    Json.Obj body = (Json.Obj) Objects.requireNonNull(JsonReader.parse(said).value());
    return done(
        new Command.Report(
            new Callback(
                call.name(CallSpec.JOB),
                call.name(CallSpec.NODE),
                call.name(CallSpec.INVOCATION),
                "checked before",
                body)));
  }

  /** Returns the newest event of a kind. */
  Event newest(String kind) {
    return events.stream()
        .filter(event -> event.kind().equals(kind))
        .reduce((first, second) -> second)
        .orElseThrow(() -> new AssertionError("no event " + kind));
  }

  /** Asks in the next step. */
  <T> CompletionStage<T> ask(Query<T> query) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    post(new LoopInput.Answer<>(query, answer));
    return answer;
  }

  /** Asks, and answers after one step. */
  <T> T answer(Query<T> query) {
    CompletableFuture<T> answer = ask(query).toCompletableFuture();
    step();
    return answer.getNow(null);
  }

  void advance(long millis) {
    now += millis;
    settle();
  }

  /** Sets the clock, before anything happens. */
  void at(String instant) {
    now = Instant.parse(instant).toEpochMilli();
  }

  /** Advances to an instant. */
  void until(String instant) {
    advance(Instant.parse(instant).toEpochMilli() - now);
  }

  void writes(String job, String node, String status) {
    end(job, node, TaskResult.Kind.EXITED, status, 0);
  }

  void end(
      String job,
      String node,
      TaskResult.Kind kind,
      @Nullable String status,
      @Nullable Integer exitCode) {
    ends(job, node, kind, status, exitCode);
    settle();
  }

  /** The same; the loop has not looked yet. */
  void ends(
      String job,
      String node,
      TaskResult.Kind kind,
      @Nullable String status,
      @Nullable Integer exitCode) {
    LaunchSpec launch = running.remove(new TaskKey(job, node));
    if (launch == null) {
      throw new AssertionError(job + " does not run on " + node + ": " + running.keySet());
    }
    post(
        new LoopInput.TaskEnded(
            TaskResult.of(job, node, launch.invocation(), kind)
                .withRawStatus(status)
                .withExit(exitCode, null)));
  }

  /** Its worker refuses to start it. */
  void refuses(String job, String node, String why, long retryAfterMillis) {
    LaunchSpec launch = launch(job, node);
    running.remove(new TaskKey(job, node));
    post(
        new LoopInput.TaskEnded(
            TaskResult.notStarted(job, node, launch.invocation(), why, retryAfterMillis)));
    settle();
  }

  LaunchSpec launch(String job, String node) {
    return Objects.requireNonNull(running.get(new TaskKey(job, node)), "does not run");
  }

  long done(String job) {
    return Objects.requireNonNull(loop.progress().get(job)).done();
  }

  StatusRow row(String job, String node) {
    StatusRow row = stored.get(new TaskKey(job, node));
    if (row == null) {
      throw new AssertionError("nothing stored of " + job + " on " + node);
    }
    return row;
  }

  /** How many batches the store has not answered. */
  int unansweredCount() {
    return unanswered.size();
  }

  /** The store answers the next of what it was asked, and nobody has heard of it yet. */
  void commitsOne() {
    unanswered.remove().run();
  }

  /** The store answers all that it was asked so far. */
  void storeAnswers() {
    storeAnswers = true;
    while (!unanswered.isEmpty()) {
      unanswered.remove().run();
    }
    settle();
  }

  private final class Commits implements LoopPorts.Commits {
    @Override
    public CompletionStage<Void> submit(StoreTransaction batch) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      Runnable commit =
          () -> {
            stored.keySet().removeIf(key -> batch.forgottenJobs().contains(key.job()));
            incarnations.keySet().removeAll(batch.forgottenJobs());
            incarnations.putAll(batch.incarnations());
            batch.pauses().applyTo(pauses);
            batch.limits().applyTo(limits);
            batch.brakes().applyTo(brakes);
            batch
                .endedRollouts()
                .forEach(job -> rollouts.keySet().removeIf(key -> key.job().equals(job)));
            batch.rollouts().forEach(row -> rollouts.put(row.key(), row));
            batch.quarantines().applyTo(quarantines);
            batch.notifications().applyTo(notifications);
            jobStates.keySet().removeAll(batch.forgottenJobs());
            batch.jobStates().forEach(standing -> jobStates.put(standing.job(), standing));
            durations.keySet().removeAll(batch.forgottenJobs());
            batch.durations().forEach(each -> durations.put(each.job(), each));
            if (!batch.queueUsage().isEmpty()) {
              queueUsage = batch.queueUsage();
              queueSamples++;
            }
            batch.rows().forEach(row -> stored.put(row.key(), row));
            attempts.addAll(batch.attempts());
            done.complete(null);
          };
      if (storeAnswers) {
        commit.run();
      } else {
        unanswered.add(commit);
      }
      return done;
    }

    @Override
    public boolean isSaturated() {
      return saturated;
    }
  }

  private final class Runner implements TaskRunner {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public String shard() {
      return "shard";
    }

    @Override
    public void open(TaskListener ends) {}

    @Override
    public boolean outlivesScheduler() {
      return isRemote;
    }

    @Override
    public void resume(List<Assignment> unconfirmed) {}

    @Override
    public void recorded(TaskResult end) {
      StatusRow row = stored.get(new TaskKey(end.job(), end.node()));
      recorded.add(end);
      storedWhenRecorded.add(row == null ? "nothing" : row.status().label().word());
    }

    @Override
    public void startBatch(List<LaunchSpec> members) {
      batches.add(members.stream().map(LaunchSpec::node).toList());
      members.forEach(this::start);
    }

    @Override
    public void start(LaunchSpec launch) {
      TaskKey key = new TaskKey(launch.job(), launch.node());
      if (running.put(key, launch) != null) {
        throw new AssertionError("two live invocations of " + key);
      }
      launches.add(launch);
    }

    @Override
    public boolean confirmStarts(boolean wanted) {
      return confirmsStarts;
    }

    @Override
    public boolean recall(List<LaunchSpec> launches) {
      recalls.addAll(launches);
      return takesBack;
    }

    @Override
    public boolean adopt(LaunchSpec launch) {
      running.put(new TaskKey(launch.job(), launch.node()), launch);
      adopted.add(launch);
      return makesCalls;
    }

    @Override
    public void letGo(String job, String node, Invocation invocation) {
      running.remove(new TaskKey(job, node));
      letGo.add(invocation);
    }

    @Override
    public void throttle(String job, String node, Invocation invocation, Throttle throttle) {
      throttles.add(node + " " + throttle.line().strip());
    }

    @Override
    public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
      kills.add(job + "/" + node + " " + how.method().label());
      return running.containsKey(new TaskKey(job, node));
    }

    @Override
    public boolean extend(String job, String node, Invocation invocation, long millis) {
      extensions.add(job + "/" + node + " " + millis);
      return running.containsKey(new TaskKey(job, node));
    }

    @Override
    public boolean mayBeAlive(String job, String node, Invocation invocation) {
      return !lostEnds || running.containsKey(new TaskKey(job, node));
    }

    @Override
    public void close() {}
  }
}
