package io.espalier.benchmark;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.ClockReading;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.protocol.WorkerOutput;
import io.espalier.core.protocol.WorkerProtocol;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.json.JsonReader;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.SchedulerClient;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Many workers in one process: the protocol's real worker side and real calls, without tasks. A
 * task "runs" for a given time and is done. One thread owns all of them; every twenty share a
 * connection, since a scheduler tells them apart by what a call says, not by where it goes.
 */
final class SimulatedWorkers implements AutoCloseable {
  private static final int PER_CONNECTION = 20;
  private static final int CALLERS = 16;
  private static final long STEP_MILLIS = 100;

  private final ScheduledExecutorService owner =
      Executors.newSingleThreadScheduledExecutor(SimulatedWorkers::daemon);
  private final ExecutorService callers =
      Executors.newFixedThreadPool(CALLERS, SimulatedWorkers::daemon);
  private final InetSocketAddress scheduler;
  private final long holdMillis;
  private final List<Worker> workers = new ArrayList<>();
  private final List<SchedulerClient> clients = new ArrayList<>();

  // Of the owner:
  private final Deque<Long> freed = new ArrayDeque<>();
  private long[] waits = new long[1 << 16];
  private int measured;
  private long started;

  /**
   * @param holdMillis how long a task runs; 0: it is done at once
   */
  SimulatedWorkers(int count, InetSocketAddress scheduler, long holdMillis) {
    this.scheduler = scheduler;
    this.holdMillis = holdMillis;
    PeerOptions peer = PeerOptions.of("benchmark", RpcSecurity.none());
    for (int i = 0; i < count; i += PER_CONNECTION) {
      clients.add(new SchedulerClient(peer, JsonReader::parse, new Answers(), () -> {}));
    }
    for (int i = 0; i < count; i++) {
      workers.add(new Worker(i, clients.get(i / PER_CONNECTION)));
    }
    owner.execute(() -> workers.forEach(worker -> worker.side.cleared(List.of(), now())));
    var unused =
        owner.scheduleWithFixedDelay(
            () -> workers.forEach(Worker::step), 0, STEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "simulated-workers");
    thread.setDaemon(true);
    return thread;
  }

  private static ClockReading now() {
    long millis = System.nanoTime() / 1_000_000;
    return new ClockReading(millis, millis, System.currentTimeMillis());
  }

  /** How many tasks were started. */
  long started() throws Exception {
    return owner.submit(() -> started).get();
  }

  /**
   * From the end of a task on its worker to the start of the one that takes its slot, on any
   * worker, in nanoseconds, sorted.
   */
  long[] waits() throws Exception {
    return owner
        .submit(
            () -> {
              long[] sorted = Arrays.copyOf(waits, measured);
              Arrays.sort(sorted);
              return sorted;
            })
        .get();
  }

  /** Forgets what was measured until now. */
  void measureAnew() throws Exception {
    owner.submit(() -> measured = 0).get();
  }

  private void ended(Worker worker, LaunchSpec launch) {
    worker.side.ended(
        TaskResult.exited(launch.job(), launch.node(), launch.invocation(), "done", 0), now());
    if (!HealthCheck.is(launch.job())) {
      freed.add(System.nanoTime());
    }
    worker.step();
  }

  private void starts(LaunchSpec launch) {
    if (HealthCheck.is(launch.job())) {
      return;
    }
    started++;
    Long since = freed.poll();
    if (since != null) {
      if (measured == waits.length) {
        waits = Arrays.copyOf(waits, 2 * waits.length);
      }
      waits[measured++] = System.nanoTime() - since;
    }
  }

  private final class Worker implements WorkerOutput {
    private final WorkerProtocol side;
    private final SchedulerClient client;

    Worker(int number, SchedulerClient client) {
      this.client = client;
      WorkerRef self = new WorkerRef("s" + number, 1 + number);
      side =
          new WorkerProtocol(
              self,
              WorkerDescription.of("host" + number).capabilities(Set.of("lease_guard")).build(),
              this);
      side.health(true, "");
    }

    void step() {
      long unused = side.step(now());
    }

    @Override
    public void send(Heartbeat heartbeat) {
      callers.execute(
          () -> {
            try {
              var answer = client.heartbeat(scheduler, heartbeat, 5_000);
              owner.execute(
                  () -> {
                    side.heartbeatAnswered(answer, now());
                    step();
                  });
            } catch (RpcException e) {
              owner.execute(() -> side.heartbeatFailed(heartbeat.number(), now()));
            }
          });
    }

    @Override
    public void send(Report report) {
      callers.execute(
          () -> {
            try {
              var answer = client.report(scheduler, report, 5_000);
              owner.execute(
                  () -> {
                    side.reportAnswered(answer, now());
                    step();
                  });
            } catch (RpcException e) {
              owner.execute(() -> side.reportFailed(report.number(), now()));
            }
          });
    }

    @Override
    public void start(LaunchSpec launch) {
      starts(launch);
      if (holdMillis == 0 || HealthCheck.is(launch.job())) {
        owner.execute(() -> ended(this, launch));
      } else {
        var unused = owner.schedule(() -> ended(this, launch), holdMillis, TimeUnit.MILLISECONDS);
      }
    }

    @Override
    public void kill(RunId run, KillRequest how) {}

    @Override
    public void recall(RunId run) {}

    @Override
    public void extend(RunId run, long millis) {}

    @Override
    public void stopAll(long killWaitMillis) {}

    @Override
    public void guard(ClockReading since, long killAfterMillis) {}

    @Override
    public void drained() {}

    @Override
    public void warn(String message) {
      System.err.println(message);
    }
  }

  private final class Answers implements CallTable.OfWorker {
    @Override
    public CompletionStage<WorkResponse> work(WorkBatch work) {
      CompletableFuture<WorkResponse> answer = new CompletableFuture<>();
      owner.execute(
          () -> {
            int number = Integer.parseInt(work.worker().shard().substring(1));
            answer.complete(workers.get(number).side.work(work, now()));
          });
      return answer;
    }

    @Override
    public CompletionStage<LogPage> logs(LogQuery query) {
      return CompletableFuture.completedFuture(new LogPage(List.of(), LogPage.END));
    }
  }

  @Override
  public void close() {
    owner.shutdownNow();
    callers.shutdownNow();
    clients.forEach(SchedulerClient::close);
  }
}
