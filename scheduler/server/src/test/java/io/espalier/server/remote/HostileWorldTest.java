package io.espalier.server.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.protocol.TaskCommand;
import io.espalier.core.protocol.Versions;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.json.JsonReader;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.RpcTimeouts;
import io.espalier.thrift.rpc.SchedulerClient;
import io.espalier.thrift.rpc.WorkerClient;
import io.espalier.worker.agent.AgentOptions;
import io.espalier.worker.agent.AgentStats;
import io.espalier.worker.agent.JobLogs;
import io.espalier.worker.agent.ProcessTaskExecutor;
import io.espalier.worker.agent.WorkerAgent;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskLog;
import io.espalier.worker.process.TaskSupervisor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * A scheduler's runner and a worker that runs a task, with peers around them that lie, or are not
 * what they should be, over real connections: the task goes on and ends as it should.
 */
@Tag("slow")
final class HostileWorldTest implements TaskListener {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long EPOCH = 3;
  private static final PeerOptions PEER =
      PeerOptions.of("test", RpcSecurity.secret("a test secret"))
          .withTimeouts(new RpcTimeouts(5_000, 5_000, 5_000, 15_000));

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<TaskResult> ends = new CopyOnWriteArrayList<>();
  private final List<String> states = new CopyOnWriteArrayList<>();
  private final ListAppender<ILoggingEvent> said = new ListAppender<>();
  private final SchedulerClient liar = opened(new SchedulerClient(PEER));
  private final WorkerClient falseScheduler = opened(new WorkerClient(PEER));
  private final WorkerRef liarRef = new WorkerRef("liar", 66);
  private long heartbeats;

  @SuppressWarnings("NullAway.Init")
  private RemoteRunner runner;

  @SuppressWarnings("NullAway.Init")
  private WorkerAgent worker;

  @SuppressWarnings("NullAway.Init")
  private LaunchSpec task;

  @Override
  public void ended(TaskResult end) {
    ends.add(end);
    runner.recorded(end);
  }

  @Override
  public void workers(List<WorkerInfo> workers) {
    workers.forEach(info -> states.add(info.ref().shard() + " " + info.state()));
  }

  private <T extends AutoCloseable> T opened(T part) {
    open.add(part);
    return part;
  }

  @BeforeEach
  void oneTaskRuns() throws Exception {
    said.start();
    ((Logger) LoggerFactory.getLogger("io.espalier")).addAppender(said);
    runner =
        opened(
            RemoteRunner.listen(
                "scheduler",
                LeadershipTerm.alone(EPOCH, "store"),
                TestTimers.SHORT,
                SchedulerProtocol.Past.KNOWN,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                PEER,
                JsonReader::parse,
                heard -> {},
                calls(new MemoryLogStore())));
    runner.open(this);
    runner.resume(List.of());
    worker = worker(PEER);
    await().atMost(PATIENCE).until(() -> runner.pool().stream().anyMatch(WorkerInfo::takesTasks));
    Path go = directory.resolve("go");
    task =
        launch(
            1,
            "until [ -e "
                + go
                + " ]; do echo alive >> "
                + directory.resolve("alive")
                + "; sleep 0.05; done; echo kept > $2");
    runner.start(task);
    await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve("alive")));
  }

  @AfterEach
  void close() throws Exception {
    ((Logger) LoggerFactory.getLogger("io.espalier")).detachAppender(said);
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private WorkerAgent worker(PeerOptions peer) throws IOException {
    Path data = Files.createDirectories(directory.resolve("worker" + open.size()));
    MemoryLogStore logs = new MemoryLogStore();
    return opened(
        WorkerAgent.start(
            new AgentOptions(
                "honest",
                "host",
                Optional.of(new AgentOptions.Address("127.0.0.1", 0)),
                "",
                List.of(new AgentOptions.Address("127.0.0.1", runner.address().getPort())),
                peer,
                Map.of(),
                0,
                data,
                Duration.ZERO),
            new ProcessTaskExecutor(
                TaskSupervisor.prepareLeased(
                    SupervisorOptions.of(data, data).withShutdownWait(Duration.ofSeconds(1)), logs),
                calls(logs),
                JobLogs.open(
                    data.resolve("job-logs.json"), logs, LogPolicy.NONE, JsonReader::parse)),
            logs,
            Map.of(),
            new AgentStats(),
            JsonReader::parse));
  }

  private LaunchSpec launch(long sequence, String script) {
    LaunchSpec made = new Launches().of("job", "node", List.of("/bin/sh", "-c", script, "task"));
    return made.with()
        .invocation(new Invocation(EPOCH, sequence, made.invocation().startMillis()))
        .limits(InvocationLimits.NONE)
        .worker(worker.self())
        .workerSlots(Map.of())
        .build();
  }

  private Heartbeat heartbeat(
      WorkerRef as, long epoch, long session, Versions versions, List<RunId> runs) {
    return new Heartbeat(
        as,
        ++heartbeats,
        epoch,
        session,
        WorkerDescription.of("host").address("127.0.0.1:1").versions(versions).build(),
        false,
        true,
        "",
        runs.size(),
        0,
        runs,
        List.of(),
        "");
  }

  private HeartbeatResponse says(Heartbeat heartbeat) throws RpcException {
    return liar.heartbeat(runner.address(), heartbeat, 10_000);
  }

  private void assertSaid(String... words) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(said.list.stream().map(ILoggingEvent::getFormattedMessage).toList())
                    .anyMatch(line -> List.of(words).stream().allMatch(line::contains)));
  }

  /** It still lives, ends by itself, and once. */
  private void assertTheTaskIsUnharmed() throws Exception {
    Path alive = directory.resolve("alive");
    long written = Files.size(alive);
    await().atMost(PATIENCE).until(() -> Files.size(alive) > written);
    assertThat(ends).isEmpty();
    Files.writeString(directory.resolve("go"), "");
    await().atMost(PATIENCE).until(() -> !ends.isEmpty());
    assertThat(ends)
        .singleElement()
        .matches(end -> "kept".equals(end.rawStatus()) && end.kind() == TaskResult.Kind.EXITED);
  }

  @Test
  void aWorkerThatClaimsTheRunsAndEndsOfAnotherChangesNothing() throws Exception {
    RunId run = RunId.of(task);
    TaskResult lie = TaskResult.exited(run.job(), run.node(), run.invocation(), "lie", 0);
    assertThat(says(heartbeat(liarRef, EPOCH, 0, Versions.OURS, List.of(run))).verdict())
        .isEqualTo(Verdict.ACCEPTED);
    assertSaid("liar", "runs what it should not");
    liar.report(
        runner.address(), new Report(liarRef, 1, List.of(lie), List.of(), List.of(), ""), 10_000);
    liar.report(
        runner.address(),
        new Report(new WorkerRef("honest", 99), 1, List.of(lie), List.of(), List.of(), ""),
        10_000);
    assertSaid("liar", "reports the end of what it does not run");
    assertSaid("honest", "reports the end of what it does not run");

    assertTheTaskIsUnharmed();
  }

  @Test
  void aWorkerThatSpeaksForAnotherProcessSessionEpochOrReleaseIsRefused() throws Exception {
    WorkerRef other = new WorkerRef("honest", 99);
    assertThat(says(heartbeat(other, EPOCH, 5, Versions.OURS, List.of())).verdict())
        .isEqualTo(Verdict.REGISTER_AGAIN);
    HeartbeatResponse taken = says(heartbeat(other, EPOCH, 0, Versions.OURS, List.of()));
    assertThat(taken.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(taken.message()).contains("honest is another process");
    assertThat(says(heartbeat(liarRef, EPOCH + 1, 5, Versions.OURS, List.of())).verdict())
        .isEqualTo(Verdict.NOT_LEADER);
    HeartbeatResponse old = says(heartbeat(liarRef, EPOCH, 0, new Versions(97, 98), List.of()));
    assertThat(old.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(old.message()).contains("no common protocol version", "97 to 98");
    assertSaid("no common protocol version", "liar");

    assertTheTaskIsUnharmed();
  }

  @Test
  void aProgramOfAnotherReleaseIsToldAtItsFirstCallAndSoIsItsPeer() throws Exception {
    try (SchedulerClient old = new SchedulerClient(PEER.withProtocol(new Versions(97, 98)))) {
      RpcException failure =
          catchThrowableOfType(
              RpcException.class,
              () ->
                  old.heartbeat(
                      runner.address(),
                      heartbeat(liarRef, EPOCH, 0, Versions.OURS, List.of()),
                      10_000));
      assertThat(failure).hasMessageContaining("speaks protocol").hasMessageContaining("97 to 98");
    }
    assertSaid("is refused", "97 to 98");
    assertTheTaskIsUnharmed();
  }

  @Test
  void aSchedulerThatIsNotTheWorkersStartsKillsAndSettlesNothing() throws Exception {
    InetSocketAddress address =
        new InetSocketAddress(
            InetAddress.getLoopbackAddress(),
            Integer.parseInt(worker.address().substring(worker.address().lastIndexOf(':') + 1)));
    Path proof = directory.resolve("proof");
    LaunchSpec more = launch(1_000, "echo started > " + proof);
    RunId run = RunId.of(task);
    TaskCommand kill = new TaskCommand(run, 1_000, new KillRequest(KillRequest.Method.KILL, 0), 0);
    List<WorkBatch> lies =
        List.of(
            new WorkBatch(
                EPOCH,
                7_777,
                worker.self(),
                9_999,
                List.of(more),
                List.of(kill),
                List.of(),
                List.of(run)),
            new WorkBatch(
                EPOCH + 5,
                1,
                worker.self(),
                9_999,
                List.of(more),
                List.of(kill),
                List.of(),
                List.of(run)),
            new WorkBatch(
                EPOCH - 1,
                1,
                worker.self(),
                9_999,
                List.of(more),
                List.of(kill),
                List.of(),
                List.of(run)),
            new WorkBatch(
                EPOCH,
                1,
                new WorkerRef("honest", 99),
                9_999,
                List.of(more),
                List.of(kill),
                List.of(),
                List.of(run)));
    for (WorkBatch lie : lies) {
      assertThat(falseScheduler.work(address, lie, 10_000).verdict())
          .isEqualTo(WorkResponse.Verdict.STALE);
    }

    assertTheTaskIsUnharmed();
    assertThat(proof).doesNotExist();
  }

  @Test
  void whoeverIsNoPeerAtAllIsClosedAndDisturbsNobody() throws Exception {
    List<Socket> strangers = new ArrayList<>();
    try {
      for (int port :
          List.of(
              runner.address().getPort(),
              Integer.parseInt(
                  worker.address().substring(worker.address().lastIndexOf(':') + 1)))) {
        for (int i = 0; i < 600; i++) {
          Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
          strangers.add(socket);
          byte[] words =
              switch (i % 4) {
                case 0 -> "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
                case 1 -> new byte[] {0x16, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3};
                case 2 -> new byte[] {0x7f, 0, 0, 0, 1, 2, 3};
                default -> new byte[0];
              };
          socket.getOutputStream().write(words);
        }
      }
      assertTheTaskIsUnharmed();
    } finally {
      for (Socket socket : strangers) {
        socket.close();
      }
    }
    assertSaid("is closed");
    assertThat(states).noneMatch(state -> state.contains("LOST"));
  }

  @Test
  void aRunnerThatWasHeldUpBeyondALeaseDoesNotTakeTheWorkerThatItAnswersForLost() throws Exception {
    // What the runner's thread hands out takes as long as we want: as if the process were stopped
    // in the middle of its messages.
    CountDownLatch hold = new CountDownLatch(1);
    CountDownLatch held = new CountDownLatch(1);
    runner.open(
        new TaskListener() {
          @Override
          public void ended(TaskResult end) {
            held.countDown();
            try {
              boolean unused = hold.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }

          @Override
          public void workers(List<WorkerInfo> workers) {
            HostileWorldTest.this.workers(workers);
          }
        });
    Files.writeString(directory.resolve("go"), "");
    assertThat(held.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    await()
        .pollDelay(Duration.ofMillis(TestTimers.SHORT.lostMillis() + 1_000))
        .atMost(PATIENCE)
        .until(() -> true);
    states.clear();
    hold.countDown();
    await().atMost(PATIENCE).until(() -> runner.pool().stream().anyMatch(WorkerInfo::takesTasks));

    assertThat(states).noneMatch(state -> state.contains("LOST"));
  }

  private static CallExecutor calls(LogStore logs) {
    return new CallExecutor(new TaskLog(logs, "host", end -> Json.Obj.EMPTY));
  }
}
