package io.espalier.worker.agent;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.ClockReading;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.ProvenTurn;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.protocol.WorkerOutput;
import io.espalier.core.protocol.WorkerProtocol;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.RpcServer;
import io.espalier.worker.process.os.RunPlace;
import io.espalier.worker.thread.OwnerThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker: drives {@link WorkerProtocol} with real clocks, calls and tasks. One thread owns the
 * state; all other threads (calls of the scheduler, answers, task events) post messages to it.
 */
public final class WorkerAgent implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WorkerAgent.class);
  private static final int MESSAGES_PER_TURN = 10_000;
  private static final long LAST_REPORTS_MILLIS = 5_000;
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(2);

  private final AgentOptions options;
  private final WorkerRef self;
  private final TaskExecutor tasks;
  private final HostClocks clocks;
  private final SchedulerCalls scheduler;
  private final @Nullable RpcServer server;
  private final WorkerLogQueries logQueries;
  private final AgentStats stats;
  private final WorkerProtocol side;
  private final OwnerThread<Runnable> thread = new OwnerThread<>("agent");
  private final CountDownLatch drained = new CountDownLatch(1);
  private volatile Map<String, Long> physical;
  private volatile MeasuredLoad measured = MeasuredLoad.UNKNOWN;
  private volatile HostFigures figures = HostFigures.UNKNOWN;

  // Confined to the owner's thread:
  private final Set<RunId> running = new LinkedHashSet<>();
  private final Deque<TaskResult> ends = new ArrayDeque<>();
  private final LeaseBarrier gate = new LeaseBarrier();
  private String ownProblem = "";
  private @Nullable ClockReading unguardedSince;
  private long guardAfterMillis = ProtocolTimers.BALANCED.guardAfterMillis();
  private final ProvenTurn<ClockReading> turn;
  private long callMillis = ProtocolTimers.BALANCED.callMillis();
  private String lastState = "";

  private WorkerAgent(
      AgentOptions options,
      TaskExecutor tasks,
      LogStore logs,
      Map<String, Long> physical,
      AgentStats stats,
      JsonDecoder json)
      throws IOException {
    this.options = options;
    this.stats = stats;
    this.tasks = tasks;
    this.self = new WorkerRef(options.shard(), new SecureRandom().nextLong() >>> 1);
    List<Long> earlier =
        InstanceFile.enter(
            options.dataDirectory(),
            self.instance(),
            RunPlace.here(options.dataDirectory()),
            tasks.lookedForSurvivors());
    this.clocks = new HostClocks();
    this.turn = new ProvenTurn<>(new Owner(), thread.inbox(), MESSAGES_PER_TURN);
    this.logQueries = new WorkerLogQueries(logs);
    Answers answers = new Answers();
    this.scheduler =
        new SchedulerCalls(
            options.schedulers(), options.peer(), json, answers, this::connectionLost);
    AgentOptions.Address listen = options.listen().orElse(null);
    this.server =
        listen == null
            ? null
            : RpcServer.worker(
                new InetSocketAddress(listen.host(), listen.port()), options.peer(), json, answers);
    this.physical = physical;
    this.side = new WorkerProtocol(self, facts(), new Output());
    tell(() -> side.cleared(earlier, now()));
  }

  /**
   * Starts a worker. Preparing the execution has verified that nothing is alive that earlier
   * processes on its data directory started.
   *
   * @param tasks prepared, not yet open; closed with the agent
   * @param logs store of the tasks' output; the caller closes it
   * @param physical capacity of the host, by name of the physical resource
   * @param stats what the worker counts, from now on
   * @param json decoder of JSON text
   * @throws IOException when the address cannot be bound, or the data directory cannot be written
   */
  public static WorkerAgent start(
      AgentOptions options,
      TaskExecutor tasks,
      LogStore logs,
      Map<String, Long> physical,
      AgentStats stats,
      JsonDecoder json)
      throws IOException {
    WorkerAgent agent = new WorkerAgent(options, tasks, logs, physical, stats, json);
    tasks.open(agent.new News());
    agent.thread.start(() -> TimeUnit.MILLISECONDS.toNanos(agent.turn.whole()), true);
    return agent;
  }

  private WorkerDescription facts() {
    return new WorkerDescription(
        options.host(),
        address(),
        options.maxTasks(),
        physical,
        options.peer().protocol(),
        Set.of("lease_guard", WorkerDescription.RECALL),
        options.labels(),
        measured,
        figures);
  }

  /** Sets the newly measured capacity of the host; the next heartbeat reports it. */
  public void physical(Map<String, Long> newest) {
    physical = newest;
    tell(() -> side.facts(facts()));
  }

  /** Sets how busy the host is, and its figures; the next heartbeat reports them. */
  public void measured(MeasuredLoad newest, HostFigures newestFigures) {
    measured = newest;
    figures = newestFigures;
    tell(() -> side.facts(facts()));
  }

  /**
   * Sets whether tasks can run here, as far as this process can tell.
   *
   * @param problem the problem; empty: none
   */
  public void health(String problem) {
    tell(() -> ownProblem = problem);
  }

  /** Returns the reference of this worker process. */
  public WorkerRef self() {
    return self;
  }

  /** Returns the address at which others reach this worker; empty: it does not listen. */
  public String address() {
    if (!options.advertised().isEmpty()) {
      return options.advertised();
    }
    if (server == null) {
      return "";
    }
    InetSocketAddress bound = server.address();
    String host =
        bound.getAddress().isAnyLocalAddress()
            ? options.host()
            : bound.getAddress().getHostAddress();
    return new AgentOptions.Address(host, bound.getPort()).toString();
  }

  /** Replaces the addresses of the schedulers; the worker tries them at once. */
  public void schedulers(List<AgentOptions.Address> schedulers) {
    scheduler.replace(schedulers);
    tell(() -> side.schedulerMoved(now()));
  }

  /**
   * Waits until an operator has drained the worker and no task is left.
   *
   * @return false when the time was up first
   */
  public boolean awaitDrained(long millis) throws InterruptedException {
    return drained.await(millis, TimeUnit.MILLISECONDS);
  }

  // ---- the owner's thread

  /**
   * Checks the guard. Without a guard nothing new starts, and nothing survives a lease that ends
   * without one.
   */
  private void lookAtTheGuard() {
    String problem = tasks.guardProblem();
    String both =
        problem.isEmpty() || ownProblem.isEmpty()
            ? problem + ownProblem
            : problem + "; " + ownProblem;
    side.health(both.isEmpty(), both);
    ClockReading since = unguardedSince;
    if (problem.isEmpty()) {
      unguardedSince = null;
    } else if (since == null) {
      unguardedSince = now();
    } else if (now().millisSince(since) >= guardAfterMillis) {
      side.giveUp(problem);
    }
  }

  /** The time of the event being handled; confined to the owner's thread. */
  private ClockReading now() {
    return turn.now();
  }

  /** The two steps that the owner's thread alternates between. */
  private final class Owner implements ProvenTurn.Half<ClockReading> {
    @Override
    public ClockReading now() {
      return clocks.now();
    }

    @Override
    public void handled() {
      boolean unused = deliverEnds();
    }

    @Override
    public long step() {
      long wait = 1_000;
      try {
        lookAtTheGuard();
        wait = side.step(turn.now());
        if (deliverEnds()) {
          wait = 0;
        }
        String state = side.state();
        if (!state.equals(lastState)) {
          log.info("{}", state.isEmpty() ? "in service" : "gets no tasks: " + state);
          lastState = state;
        }
        stats.stepped(running.size(), state, tasks.guardProblem().isEmpty());
      } catch (RuntimeException e) {
        // Without steps the lease expires and the guard kills the tasks: the safe way to fail.
        log.error("the protocol failed", e);
      }
      return wait;
    }

    @Override
    public void failed(RuntimeException mistake) {
      log.error("while handling a message", mistake);
    }
  }

  /** Delivers the ends of tasks that took no time; these arrive while the tasks are started. */
  private boolean deliverEnds() {
    boolean any = !ends.isEmpty();
    for (TaskResult end = ends.poll(); end != null; end = ends.poll()) {
      running.remove(RunId.of(end));
      stats.ended();
      side.ended(end, now());
    }
    return any;
  }

  private void tell(Runnable message) {
    thread.post(message);
  }

  private void connectionLost() {
    tell(() -> side.connectionLost(now()));
  }

  /**
   * Ends the tasks whose lease expired before they started; no new lease begins until all tasks
   * have ended.
   */
  private void neverStarted() {
    for (LaunchSpec start : gate.giveUp()) {
      ends.add(
          TaskResult.notStarted(
              start.job(),
              start.node(),
              start.invocation(),
              "the worker's lease ended before it was known to the guard of its tasks",
              0));
    }
  }

  /** Carries out what the protocol decides. */
  private final class Output implements WorkerOutput {
    @Override
    public void send(Heartbeat heartbeat) {
      long within = callMillis;
      Runnable call =
          () ->
              scheduler.heartbeat(
                  heartbeat,
                  within,
                  answer -> tell(() -> answered(answer)),
                  () -> tell(() -> heartbeatFailed(heartbeat)));
      if (heartbeat.session() != 0) {
        call.run();
        return;
      }
      // A registration promises that nothing from before is alive or being killed.
      var unused =
          tasks
              .leaseInForce()
              .toCompletableFuture()
              .orTimeout(within, TimeUnit.MILLISECONDS)
              .whenComplete(
                  (done, failure) -> {
                    if (failure == null) {
                      call.run();
                    } else {
                      log.error("the guard of the tasks does not answer; not registering");
                      tell(() -> heartbeatFailed(heartbeat));
                    }
                  });
    }

    private void heartbeatFailed(Heartbeat heartbeat) {
      stats.heartbeatFailed();
      side.heartbeatFailed(heartbeat.number(), now());
    }

    private void answered(HeartbeatResponse answer) {
      stats.heartbeatAnswered();
      callMillis = answer.timers().callMillis();
      if (answer.verdict() == HeartbeatResponse.Verdict.REFUSED) {
        log.warn("the scheduler refuses this worker: {}", answer.message());
      }
      side.heartbeatAnswered(answer, now());
    }

    @Override
    public void send(Report report) {
      scheduler.report(
          report,
          callMillis,
          answer -> tell(() -> side.reportAnswered(answer, now())),
          () -> tell(() -> side.reportFailed(report.number(), now())));
    }

    @Override
    public void start(LaunchSpec launch) {
      start(List.of(launch), one -> tasks.start(launch));
    }

    @Override
    public void startBatch(List<LaunchSpec> members) {
      start(members, tasks::startBatch);
    }

    private void start(List<LaunchSpec> launches, Consumer<List<LaunchSpec>> action) {
      for (LaunchSpec launch : launches) {
        running.add(RunId.of(launch));
        stats.started();
      }
      gate.start(launches, action);
    }

    @Override
    public void kill(RunId run, KillRequest how) {
      gate.then(() -> tasks.kill(run, how));
    }

    @Override
    public void recall(RunId run) {
      if (gate.recall(run)) {
        ends.add(
            TaskResult.notStarted(run.job(), run.node(), run.invocation(), "it was recalled", 0));
      } else {
        tasks.recall(run);
      }
    }

    @Override
    public void extend(RunId run, long millis) {
      gate.then(() -> tasks.extend(run, millis));
    }

    @Override
    public void throttle(RunId run, Throttle throttle) {
      gate.then(() -> tasks.throttle(run, throttle));
    }

    @Override
    public void letGo(RunId run) {
      gate.then(() -> tasks.letGo(run));
    }

    @Override
    public void stopAll(long killWaitMillis) {
      KillRequest how =
          new KillRequest(
              KillRequest.Method.TERM_WAIT_KILL, (int) Math.min(Integer.MAX_VALUE, killWaitMillis));
      neverStarted();
      running.forEach(run -> tasks.giveUp(run, how));
    }

    @Override
    public void guard(ClockReading since, long killAfterMillis) {
      guardAfterMillis = killAfterMillis;
      boolean ask = gate.renewed(since, killAfterMillis, now());
      tasks.lease(
          (since.uptimeMillis() + killAfterMillis) / 10, since.wallMillis() + killAfterMillis);
      if (ask) {
        var unused = tasks.leaseInForce().thenRun(() -> tell(gate::open));
      }
    }

    @Override
    public void drained() {
      drained.countDown();
    }

    @Override
    public void warn(String message) {
      log.warn("{}", message);
    }
  }

  /** Receives task events, on the supervisor's thread, or on ours when a task takes no time. */
  private final class News implements TaskListener {
    @Override
    public void ended(TaskResult end) {
      if (thread.isCurrent()) {
        ends.add(end);
      } else {
        tell(() -> ends.add(end));
      }
    }

    @Override
    public void progress(String job, String node, Invocation invocation, Progress progress) {
      tell(() -> side.progress(new RunId(job, node, invocation), progress));
    }

    @Override
    public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
      tell(() -> side.usage(new RunId(job, node, invocation), usage));
    }
  }

  /** Answers the calls of the scheduler. */
  private final class Answers implements CallTable.OfWorker {
    @Override
    public CompletionStage<WorkResponse> work(WorkBatch work) {
      CompletableFuture<WorkResponse> answer = new CompletableFuture<>();
      tell(
          () -> {
            try {
              answer.complete(side.work(work, now()));
            } catch (RuntimeException e) {
              answer.completeExceptionally(e);
            }
          });
      return answer;
    }

    @Override
    public CompletionStage<LogPage> logs(LogQuery query) {
      return logQueries.ask(query);
    }
  }

  /**
   * Stops the worker: it accepts no new task, waits up to its time limit for running tasks, stops
   * the rest, and then waits briefly until the scheduler knows how all of them ended.
   */
  @Override
  public void close() {
    tell(() -> side.drain(now()));
    try {
      boolean unused = drained.await(options.drainWait().toMillis(), TimeUnit.MILLISECONDS);
      tasks.close();
      unused = drained.await(LAST_REPORTS_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (server != null) {
      server.close();
    }
    thread.close(CLOSE_BOUND);
    try {
      scheduler.close();
      logQueries.close();
      clocks.close();
    } catch (IOException e) {
      log.debug("while closing", e);
    }
  }
}
