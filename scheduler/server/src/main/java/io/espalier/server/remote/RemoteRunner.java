package io.espalier.server.remote;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.ProvenTurn;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.SchedulerOutput;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcServer;
import io.espalier.thrift.rpc.WorkerLink;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.thread.OwnerThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on remote workers: drives {@link SchedulerProtocol} with a real clock and real calls.
 * One thread, "workers", owns the protocol; the scheduler thread, calls from workers and answers to
 * our calls send it messages. It handles all queued messages before it creates batches. Several
 * starts for one worker thus become one call, and batches grow with the load.
 *
 * <p>Tasks survive the runner: {@link #close} stops none, and the next scheduler process takes them
 * over.
 */
public final class RemoteRunner implements TaskRunner {
  private static final Logger log = LoggerFactory.getLogger(RemoteRunner.class);
  private static final int MESSAGES_PER_TURN = 20_000;
  private static final int LOGS_MILLIS = 5_000;
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(2);

  private final String shard;
  private final ProtocolTimers timers;
  private final WorkerCalls calls;
  private final CallExecutor adopted;
  private final RpcServer server;
  private final SchedulerProtocol side;
  private final OwnerThread<Runnable> thread = new OwnerThread<>("workers");
  private final Set<RunId> known = ConcurrentHashMap.newKeySet();
  private final LongConsumer newerEpoch;
  private final ProvenTurn<Long> turn;
  private final long wallAtStart = System.currentTimeMillis();
  private final long nanosAtStart = System.nanoTime();
  private final Map<WorkerRef, Long> lastSeen = new ConcurrentHashMap<>();
  private final AtomicLong unsettled = new AtomicLong();
  private volatile List<WorkerInfo> workers = List.of();
  private volatile @Nullable TaskListener listener;
  private volatile boolean confirmsStarts;
  private volatile String problem = "";
  private volatile boolean waitsSafely;
  private volatile boolean outwaited;
  private boolean resumed;
  private long exitWaitBefore;

  private RemoteRunner(
      String shard,
      LeadershipTerm term,
      ProtocolTimers timers,
      SchedulerProtocol.Past past,
      InetSocketAddress listen,
      PeerOptions peer,
      JsonDecoder json,
      LongConsumer newerEpoch,
      CallExecutor adopted)
      throws IOException {
    this.adopted = adopted;
    this.shard = shard;
    this.newerEpoch = newerEpoch;
    this.timers = timers;
    this.side = new SchedulerProtocol(term, timers, past, new Output());
    this.waitsSafely = past == SchedulerProtocol.Past.UNKNOWN;
    this.turn = new ProvenTurn<>(new Owner(), thread.inbox(), MESSAGES_PER_TURN);
    this.calls = new WorkerCalls(peer);
    this.server = listening(listen, peer, json);
  }

  private RpcServer listening(InetSocketAddress listen, PeerOptions peer, JsonDecoder json)
      throws IOException {
    try {
      return RpcServer.scheduler(listen, peer, json, new Answers());
    } catch (IOException e) {
      calls.close();
      throw e;
    }
  }

  /**
   * Listens for workers; they are answered once {@link #resume} was called.
   *
   * @param shard name of the instance node
   * @param term the term of leadership; without it nothing is answered or sent
   * @param past whether the store knows everything that may be alive
   * @param json parses JSON text from workers
   * @param newerEpoch called once, on the runner's thread, when a worker knows a later leader of
   *     the same store; from then on nothing is answered or sent
   * @param adopted asks about calls whose worker was lost
   * @throws IOException naming the address when it is not available
   */
  public static RemoteRunner listen(
      String shard,
      LeadershipTerm term,
      ProtocolTimers timers,
      SchedulerProtocol.Past past,
      InetSocketAddress listen,
      PeerOptions peer,
      JsonDecoder json,
      LongConsumer newerEpoch,
      CallExecutor adopted)
      throws IOException {
    RemoteRunner runner =
        new RemoteRunner(shard, term, timers, past, listen, peer, json, newerEpoch, adopted);
    runner.thread.start(runner::take, true);
    return runner;
  }

  /** Returns the address on which it listens for workers. */
  public InetSocketAddress address() {
    return server.address();
  }

  /** Returns statistics for metrics. Thread-safe. */
  public RemoteStats stats() {
    long oldest = 0;
    Map<WorkerInfo.State, Integer> states = new EnumMap<>(WorkerInfo.State.class);
    for (WorkerInfo worker : workers) {
      states.merge(worker.state(), 1, Integer::sum);
      if (worker.state() != WorkerInfo.State.LOST) {
        long seen = Math.max(worker.lastSeenMillis(), lastSeenMillis(worker.ref()));
        oldest = Math.max(oldest, clock() - seen);
      }
    }
    return new RemoteStats(
        states, oldest, known.size(), unsettled.get(), calls.made(), calls.failed());
  }

  @Override
  public long lastSeenMillis(WorkerRef worker) {
    return lastSeen.getOrDefault(worker, 0L);
  }

  /** Returns true when no worker gets tasks because unknown invocations may be alive. */
  public boolean waitsSafely() {
    return waitsSafely;
  }

  /**
   * Returns true when no task that earlier leaders have started can be alive any more, unless it is
   * confirmed.
   */
  public boolean hasOutwaited() {
    return outwaited;
  }

  /** Describes for people why workers get no tasks or are refused. */
  public Optional<String> problem() {
    return Optional.of(problem).filter(text -> !text.isEmpty());
  }

  /** Returns the newest view of the pool. */
  public List<WorkerInfo> pool() {
    return workers;
  }

  /**
   * Ends the safe wait at once if the current time is before {@code limit}: the operator confirms
   * that no task of an earlier scheduler is alive.
   */
  public void exitSafeWaitBefore(Instant limit) {
    tell(
        () -> {
          exitWaitBefore = limit.toEpochMilli();
          exitSafeWait();
        });
  }

  /** Options of the processes of health checks, which no job has any for. */
  public void healthCheckOptions(SubprocessOptions options) {
    tell(() -> side.healthCheckOptions(options));
  }

  private void exitSafeWait() {
    if (now() < exitWaitBefore) {
      side.endSafeWait(now());
    }
  }

  /**
   * Creates a reader of the task output of all workers.
   *
   * @param own the scheduler's own store, for tasks that ran there before
   */
  public PoolLogs logs(LogStore own) {
    return new PoolLogs(this::pool, calls, own, LOGS_MILLIS);
  }

  @Override
  public String name() {
    return "remote";
  }

  @Override
  public String shard() {
    return shard;
  }

  @Override
  public void open(TaskListener newListener) {
    listener = newListener;
    adopted.open(
        new TaskListener() {
          @Override
          public void ended(TaskResult end) {
            unsettled.incrementAndGet();
            newListener.ended(end);
          }

          @Override
          public void progress(String job, String node, Invocation invocation, Progress progress) {
            newListener.progress(job, node, invocation, progress);
          }
        });
  }

  @Override
  public boolean confirmStarts(boolean wanted) {
    confirmsStarts = wanted;
    return true;
  }

  @Override
  public boolean outlivesScheduler() {
    return true;
  }

  @Override
  public void resume(List<Assignment> unconfirmed) {
    unconfirmed.forEach(each -> known.add(new RunId(each.job(), each.node(), each.invocation())));
    List<Assignment> copy = List.copyOf(unconfirmed);
    tell(
        () -> {
          side.resume(copy, now());
          resumed = true;
          exitSafeWait();
        });
  }

  @Override
  public void start(LaunchSpec launch) {
    startBatch(List.of(launch));
  }

  @Override
  public void startBatch(List<LaunchSpec> members) {
    for (LaunchSpec launch : members) {
      if (!known.add(RunId.of(launch))) {
        throw new IllegalStateException("this invocation was started before: " + RunId.of(launch));
      }
    }
    // One message, so that they go to the worker together.
    tell(() -> members.forEach(launch -> side.start(launch, now())));
  }

  @Override
  public boolean adopt(LaunchSpec launch) {
    adopted.adopt(launch);
    return true;
  }

  @Override
  public void letGo(String job, String node, Invocation invocation) {
    if (!adopted.letGo(job, node, invocation, CallExecutor.REPORTED)) {
      tell(() -> side.letGo(new RunId(job, node, invocation), now()));
    }
  }

  @Override
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    if (adopted.kill(job, node, invocation)) {
      return true;
    }
    RunId run = new RunId(job, node, invocation);
    return known.contains(run) && told(() -> side.kill(run, how, now()));
  }

  @Override
  public boolean extend(String job, String node, Invocation invocation, long millis) {
    if (adopted.extend(job, node, invocation, millis)) {
      return true;
    }
    RunId run = new RunId(job, node, invocation);
    return known.contains(run) && told(() -> side.extend(run, millis, now()));
  }

  @Override
  public boolean recall(List<LaunchSpec> launches) {
    List<RunId> sent = new ArrayList<>();
    List<Invocation> begun = new ArrayList<>();
    for (LaunchSpec launch : launches) {
      if (adopted.knows(launch.job(), launch.node(), launch.invocation())) {
        begun.add(launch.invocation());
      } else {
        sent.add(RunId.of(launch));
      }
    }
    TaskListener to = listener;
    if (to != null && !begun.isEmpty()) {
      to.recalled(begun);
    }
    tell(() -> sent.forEach(side::recall));
    return true;
  }

  @Override
  public void throttle(String job, String node, Invocation invocation, Throttle throttle) {
    tell(() -> side.throttle(new RunId(job, node, invocation), throttle));
  }

  @Override
  public boolean mayBeAlive(String job, String node, Invocation invocation) {
    return known.contains(new RunId(job, node, invocation)) || adopted.knows(job, node, invocation);
  }

  @Override
  public void cordons(List<WorkerCordon> cordons) {
    List<String> cordoned = new ArrayList<>();
    List<String> draining = new ArrayList<>();
    for (WorkerCordon cordon : cordons) {
      (cordon.kind() == WorkerCordon.Kind.DRAIN ? draining : cordoned).add(cordon.shard());
    }
    tell(() -> side.cordons(cordoned, draining, now()));
  }

  @Override
  public void recorded(TaskResult end) {
    RunId run = RunId.of(end);
    unsettled.decrementAndGet();
    tell(() -> side.recorded(run, now()));
  }

  private boolean told(BooleanSupplier message) {
    tell(
        () -> {
          boolean unused = message.getAsBoolean();
        });
    return true;
  }

  private void tell(Runnable message) {
    thread.post(message);
  }

  /** A monotonic clock that does not jump. */
  private long clock() {
    return wallAtStart + (System.nanoTime() - nanosAtStart) / 1_000_000;
  }

  private long take() {
    long next = turn.whole();
    return TimeUnit.MILLISECONDS.toNanos(next - clock());
  }

  /** The time of the message being handled. Confined to the runner's thread. */
  private long now() {
    return turn.now();
  }

  /** The work that the runner's thread does in turns. */
  private final class Owner implements ProvenTurn.Half<Long> {
    @Override
    public Long now() {
      return clock();
    }

    @Override
    public void handled() {}

    @Override
    public long step() {
      long at = turn.now();
      try {
        long next = side.step(at);
        problem = side.problem(at).orElse("");
        waitsSafely = resumed ? side.safeWaitEndsMillis() != 0 : waitsSafely;
        outwaited = side.hasOutwaited();
        return next;
      } catch (RuntimeException e) {
        log.error("the protocol failed", e);
        return at + 1_000;
      }
    }

    @Override
    public void failed(RuntimeException mistake) {
      log.error("while handling a message about workers", mistake);
    }
  }

  /** Carries out the output of the protocol. */
  private final class Output implements SchedulerOutput {
    @Override
    public void send(String address, WorkBatch work) {
      WorkerRef worker = work.worker();
      calls.work(
          address,
          work,
          timers.callMillis(),
          answer -> tell(() -> side.answered(worker, answer, now())),
          (reached, why) -> {
            log.debug("work {} for {}: {}", work.number(), worker.shard(), why);
            tell(() -> side.failed(worker, work.number(), reached, why, now()));
          });
    }

    @Override
    public void ended(TaskResult end) {
      known.remove(RunId.of(end));
      unsettled.incrementAndGet();
      hear(to -> to.ended(end));
    }

    @Override
    public void late(TaskResult end) {
      unsettled.incrementAndGet();
      hear(to -> to.late(end));
    }

    @Override
    public void started(RunId run) {
      if (confirmsStarts) {
        hear(to -> to.started(run.job(), run.node(), run.invocation()));
      }
    }

    @Override
    public void recalled(List<RunId> runs) {
      List<Invocation> invocations = runs.stream().map(RunId::invocation).toList();
      hear(to -> to.recalled(invocations));
    }

    @Override
    public void progress(RunId run, Progress progress) {
      hear(to -> to.progress(run.job(), run.node(), run.invocation(), progress));
    }

    @Override
    public void usage(RunId run, ResourceUsage usage) {
      hear(to -> to.usage(run.job(), run.node(), run.invocation(), usage));
    }

    @Override
    public void workers(List<WorkerInfo> newest) {
      workers = List.copyOf(newest);
      Set<WorkerRef> there = new HashSet<>();
      newest.forEach(worker -> there.add(worker.ref()));
      lastSeen.keySet().retainAll(there);
      calls.retain(there);
      hear(to -> to.workers(newest));
    }

    @Override
    public void newerEpoch(long heard) {
      newerEpoch.accept(heard);
    }

    @Override
    public void warn(String message) {
      log.warn("{}", message);
    }

    private void hear(Consumer<TaskListener> news) {
      TaskListener to = listener;
      if (to != null) {
        news.accept(to);
      }
    }
  }

  /** Handles the calls of workers. */
  private final class Answers implements CallTable.OfScheduler {
    @Override
    public CompletionStage<HeartbeatResponse> heartbeat(Heartbeat heartbeat, WorkerLink from) {
      return answer(
          at -> {
            HeartbeatResponse answer = side.heartbeat(heartbeat, at);
            if (answer.verdict() == HeartbeatResponse.Verdict.ACCEPTED) {
              lastSeen.put(heartbeat.worker(), at);
              calls.connected(heartbeat.worker(), from);
            }
            return answer;
          });
    }

    @Override
    public CompletionStage<ReportResponse> report(Report report) {
      return answer(at -> side.report(report, at));
    }

    private <T> CompletionStage<T> answer(LongFunction<T> question) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      tell(
          () -> {
            try {
              answer.complete(question.apply(now()));
            } catch (RuntimeException e) {
              answer.completeExceptionally(e);
            }
          });
      return answer;
    }
  }

  /**
   * Disconnects from the workers. Their tasks continue, and their reports wait for the next
   * scheduler.
   */
  @Override
  public void close() {
    adopted.close();
    server.close();
    thread.close(CLOSE_BOUND);
    calls.close();
  }
}
