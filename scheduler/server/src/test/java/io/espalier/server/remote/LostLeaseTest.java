package io.espalier.server.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.Versions;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.json.JsonReader;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.RpcServer;
import io.espalier.thrift.rpc.WorkerClient;
import io.espalier.thrift.rpc.WorkerLink;
import io.espalier.worker.agent.AgentOptions;
import io.espalier.worker.agent.AgentStats;
import io.espalier.worker.agent.NoopTasks;
import io.espalier.worker.agent.TaskExecutor;
import io.espalier.worker.agent.WorkerAgent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The guard of a worker's tasks is of no use: it is deaf, or there is none. */
final class LostLeaseTest implements CallTable.OfScheduler {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final PeerOptions PEER = PeerOptions.of("test", RpcSecurity.none());
  private static final long EPOCH = 3;
  private static final long SESSION = 7;

  private final List<Heartbeat> registrations = new CopyOnWriteArrayList<>();
  private final List<TaskResult> ends = new CopyOnWriteArrayList<>();
  private volatile boolean schedulerAnswers = true;
  private volatile boolean guardAnswers;
  private volatile String guardProblem = "";
  private volatile boolean endless;
  private final List<Heartbeat> heartbeats = new CopyOnWriteArrayList<>();

  @Override
  public CompletionStage<HeartbeatResponse> heartbeat(Heartbeat heartbeat, WorkerLink from) {
    if (!schedulerAnswers) {
      return new CompletableFuture<>();
    }
    heartbeats.add(heartbeat);
    if (heartbeat.session() == 0) {
      registrations.add(heartbeat);
    }
    return CompletableFuture.completedFuture(
        new HeartbeatResponse(
            heartbeat.number(),
            HeartbeatResponse.Verdict.ACCEPTED,
            EPOCH,
            SESSION,
            Versions.OURS.newest(),
            TestTimers.SHORT,
            false,
            "",
            ""));
  }

  @Override
  public CompletionStage<ReportResponse> report(Report report) {
    ends.addAll(report.ends());
    return CompletableFuture.completedFuture(
        new ReportResponse(report.number(), true, report.ends().stream().map(RunId::of).toList()));
  }

  private RpcServer scheduler() throws IOException {
    return RpcServer.scheduler(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), PEER, JsonReader::parse, this);
  }

  @Test
  void startsThatWaitedForItNeverWereAndTheWorkerComesBack(@TempDir Path data) throws Exception {
    try (RpcServer scheduler = scheduler();
        WorkerAgent worker = worker(data, scheduler.address());
        WorkerClient client = new WorkerClient(PEER)) {
      await().atMost(PATIENCE).until(() -> registrations.size() == 1);
      LaunchSpec task = new Launches().of("job", "node", List.of("/bin/true"));
      WorkResponse answer =
          client.work(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port(worker)),
              new WorkBatch(
                  EPOCH, SESSION, worker.self(), 1, List.of(task), List.of(), List.of(), List.of()),
              5_000);
      assertThat(answer.starts()).containsExactly(WorkResponse.StartAnswer.ACCEPTED);

      schedulerAnswers = false;
      // Longer than its lease: it must not take the answer for a renewal.
      await().atMost(PATIENCE).until(() -> !ends.isEmpty());
      guardAnswers = true;
      schedulerAnswers = true;
      await().atMost(PATIENCE).until(() -> registrations.size() == 2);
      assertThat(ends).allMatch(end -> end.kind() == TaskResult.Kind.NOT_STARTED);
      assertThat(ends.get(0).message()).contains("lease ended");
    }
  }

  @Test
  void aWorkerWithoutAGuardSaysSoStartsNothingAndStopsItsTasksAfterALease(@TempDir Path data)
      throws Exception {
    guardAnswers = true;
    endless = true;
    try (RpcServer scheduler = scheduler();
        WorkerAgent worker = worker(data, scheduler.address());
        WorkerClient client = new WorkerClient(PEER)) {
      await().atMost(PATIENCE).until(() -> registrations.size() == 1);
      assertThat(start(client, worker, 1, "first")).isEqualTo(WorkResponse.StartAnswer.ACCEPTED);
      guardProblem = "no guard: for the test";
      await()
          .atMost(PATIENCE)
          .until(() -> heartbeats.stream().anyMatch(h -> h.note().contains(guardProblem)));
      assertThat(heartbeats.get(heartbeats.size() - 1).healthy()).isFalse();
      WorkResponse.StartAnswer refused = start(client, worker, 2, "second");
      assertThat(refused).isNotEqualTo(WorkResponse.StartAnswer.ACCEPTED);
      assertThat(refused.toString()).contains(guardProblem);
      await().atMost(PATIENCE).until(() -> !ends.isEmpty());
      assertThat(ends.get(0).kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(ends.get(0).stopReason()).isEqualTo(StopReason.LEASE_LOST);
    }
  }

  private static WorkResponse.StartAnswer start(
      WorkerClient client, WorkerAgent worker, long number, String node) throws Exception {
    LaunchSpec task = new Launches().of("job", node, List.of("/bin/true"));
    return client
        .work(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port(worker)),
            new WorkBatch(
                EPOCH,
                SESSION,
                worker.self(),
                number,
                List.of(task),
                List.of(),
                List.of(),
                List.of()),
            5_000)
        .starts()
        .get(0);
  }

  private static int port(WorkerAgent worker) {
    return Integer.parseInt(worker.address().substring(worker.address().lastIndexOf(':') + 1));
  }

  private WorkerAgent worker(Path data, InetSocketAddress scheduler) throws IOException {
    return WorkerAgent.start(
        new AgentOptions(
            "w",
            "host",
            Optional.of(new AgentOptions.Address("127.0.0.1", 0)),
            "",
            List.of(new AgentOptions.Address("127.0.0.1", scheduler.getPort())),
            PEER,
            Map.of(),
            0,
            data,
            Duration.ZERO),
        new DeafGuard(),
        new MemoryLogStore(),
        Map.of(),
        new AgentStats(),
        JsonReader::parse);
  }

  /** Tasks that take no time, or all of it, and a guard that is as the test wants it. */
  private final class DeafGuard implements TaskExecutor {
    private final NoopTasks tasks = new NoopTasks();
    private volatile @Nullable TaskListener news;
    private volatile boolean hasLease;

    @Override
    public void open(TaskListener listener) {
      news = listener;
      tasks.open(listener);
    }

    @Override
    public void start(LaunchSpec launch) {
      if (!endless) {
        tasks.start(launch);
      }
    }

    @Override
    public void kill(RunId run, KillRequest how) {
      TaskListener listener = news;
      if (listener != null) {
        listener.ended(
            TaskResult.of(run.job(), run.node(), run.invocation(), TaskResult.Kind.KILLED));
      }
    }

    @Override
    public void extend(RunId run, long millis) {
      tasks.extend(run, millis);
    }

    @Override
    public void lease(long uptimeHundredths, long clockMillis) {
      hasLease = true;
    }

    @Override
    public CompletionStage<Void> leaseInForce() {
      return guardAnswers || !hasLease
          ? CompletableFuture.completedFuture(null)
          : new CompletableFuture<>();
    }

    @Override
    public String guardProblem() {
      return guardProblem;
    }

    @Override
    public boolean lookedForSurvivors() {
      return true;
    }

    @Override
    public String description() {
      return tasks.description();
    }

    @Override
    public void close() {
      tasks.close();
    }
  }
}
