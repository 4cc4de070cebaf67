package io.espalier.server.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.protocol.Versions;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.json.JsonReader;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.RpcTimeouts;
import io.espalier.worker.agent.AgentOptions;
import io.espalier.worker.agent.AgentStats;
import io.espalier.worker.agent.JobLogs;
import io.espalier.worker.agent.NoopTasks;
import io.espalier.worker.agent.ProcessTaskExecutor;
import io.espalier.worker.agent.TaskExecutor;
import io.espalier.worker.agent.WorkerAgent;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskLog;
import io.espalier.worker.process.TaskSupervisor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A runner and workers in one process, with real calls; who runs what is said by the test. */
final class RemoteRunnerTest {
  private static final PeerOptions PEER =
      PeerOptions.of("test", RpcSecurity.secret("a test secret"))
          .withTimeouts(new RpcTimeouts(1_000, 1_000, 2_000, 4_000));

  /** What the release before speaks. */
  private static final Versions BEFORE = new Versions(1, 1);

  private static final AgentOptions.Address ANY_PORT = new AgentOptions.Address("127.0.0.1", 0);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final CollectedEnds ends = new CollectedEnds();
  private final Launches launches = new Launches();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <T extends AutoCloseable> T opened(T part) {
    open.add(part);
    return part;
  }

  private RemoteRunner scheduler(long epoch, int port, List<Assignment> unconfirmed)
      throws IOException {
    return scheduler(epoch, port, unconfirmed, TestTimers.SHORT);
  }

  private RemoteRunner scheduler(
      long epoch, int port, List<Assignment> unconfirmed, ProtocolTimers timers)
      throws IOException {
    return scheduler(epoch, port, unconfirmed, timers, PEER);
  }

  private RemoteRunner scheduler(
      long epoch, int port, List<Assignment> unconfirmed, ProtocolTimers timers, PeerOptions peer)
      throws IOException {
    RemoteRunner runner =
        opened(
            RemoteRunner.listen(
                "scheduler",
                LeadershipTerm.alone(epoch, "store"),
                timers,
                SchedulerProtocol.Past.KNOWN,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                peer,
                JsonReader::parse,
                heard -> {},
                calls(new MemoryLogStore())));
    runner.open(ends);
    runner.resume(unconfirmed);
    return runner;
  }

  private WorkerAgent worker(String shard, RemoteRunner runner, boolean noop) throws IOException {
    return worker(shard, runner, noop, PEER, Optional.empty());
  }

  private WorkerAgent worker(
      String shard,
      RemoteRunner runner,
      boolean noop,
      PeerOptions peer,
      Optional<AgentOptions.Address> listen)
      throws IOException {
    return worker(shard, runner, noop, peer, listen, "");
  }

  private WorkerAgent worker(
      String shard,
      RemoteRunner runner,
      boolean noop,
      PeerOptions peer,
      Optional<AgentOptions.Address> listen,
      String advertised)
      throws IOException {
    Path data = directory.resolve(shard);
    Files.createDirectories(data);
    MemoryLogStore logs = new MemoryLogStore();
    TaskExecutor tasks =
        noop
            ? new NoopTasks()
            : new ProcessTaskExecutor(
                TaskSupervisor.prepareLeased(
                    SupervisorOptions.of(data, data).withShutdownWait(Duration.ofSeconds(1)), logs),
                calls(logs),
                JobLogs.open(
                    data.resolve("job-logs.json"), logs, LogPolicy.NONE, JsonReader::parse));
    return opened(
        WorkerAgent.start(
            new AgentOptions(
                shard,
                "host-of-" + shard,
                listen,
                advertised,
                List.of(new AgentOptions.Address("127.0.0.1", runner.address().getPort())),
                peer,
                Map.of(),
                0,
                data,
                Duration.ZERO),
            tasks,
            logs,
            Map.of(),
            new AgentStats(),
            JsonReader::parse));
  }

  private static void awaitHealthy(RemoteRunner runner, int count) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> runner.pool().stream().filter(WorkerInfo::takesTasks).count() == count);
  }

  private LaunchSpec launch(WorkerRef worker, String node, String script) {
    LaunchSpec made = launches.of("job", node, List.of("/bin/sh", "-c", script, "task"));
    return made.with()
        .invocation(
            new Invocation(1, made.invocation().sequence(), made.invocation().startMillis()))
        .limits(InvocationLimits.NONE)
        .worker(worker)
        .workerSlots(Map.of())
        .build();
  }

  /** Waits for the end of a task and confirms it; a worker that closes waits for that. */
  private TaskResult ended(RemoteRunner runner, LaunchSpec launch) {
    TaskResult end = ends.await(launch);
    runner.recorded(end);
    return end;
  }

  @Test
  void aTaskRunsOnItsWorkerAndItsStatusComesBack() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    LaunchSpec launch = launch(worker.self(), "node", "echo it was me > $2; exit 0");
    runner.start(launch);
    TaskResult end = ended(runner, launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(end.rawStatus()).isEqualTo("it was me");
  }

  @Test
  void whatATaskSaysJustBeforeItsEndIsHeardBeforeIt() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    for (int i = 0; i < 5; i++) {
      LaunchSpec launch =
          launch(
              worker.self(),
              "node" + i,
              "echo '{\"progress\": {\"cursor\": \"7\"}}' >> $2; echo incomplete >> $2");
      runner.start(launch);
      assertThat(ended(runner, launch).rawStatus()).isEqualTo("incomplete");
      assertThat(ends.progressOf(launch)).isNotNull().extracting("cursor").isEqualTo("7");
    }
  }

  @Test
  void aWorkerListensNowhere() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    assertThat(worker("w1", runner, true).address()).isEmpty();
    awaitHealthy(runner, 1);
    assertThat(runner.pool()).singleElement().matches(info -> info.address().isEmpty());
  }

  /** A task runs, is asked for, and ends; its output is read. */
  private void assertWorkAndLogsPass(RemoteRunner runner, WorkerAgent worker) throws Exception {
    awaitHealthy(runner, 1);
    LaunchSpec launch = launch(worker.self(), "node", "echo said; echo done > $2");
    runner.start(launch);
    assertThat(ended(runner, launch).rawStatus()).isEqualTo("done");
    PoolLogs logs = opened(runner.logs(new MemoryLogStore()));
    assertThat(texts(logs, LogLine.Stream.STDOUT)).containsExactly("said\n");
  }

  @Test
  void aWorkerOfTheReleaseBeforeIsCalledAtItsAddress() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker =
        worker("w1", runner, false, PEER.withProtocol(BEFORE), Optional.of(ANY_PORT));
    assertWorkAndLogsPass(runner, worker);
  }

  @Test
  void aSchedulerOfTheReleaseBeforeCallsAWorkerThatListens() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of(), TestTimers.SHORT, PEER.withProtocol(BEFORE));
    assertWorkAndLogsPass(runner, worker("w1", runner, false, PEER, Optional.of(ANY_PORT)));
  }

  @Test
  void aWorkerThatListensNeedlesslyIsCalledOnItsConnectionAllTheSame() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    // Nothing answers at the address that it advertises.
    WorkerAgent worker = worker("w1", runner, false, PEER, Optional.of(ANY_PORT), "127.0.0.1:1");
    assertThat(worker.address()).isEqualTo("127.0.0.1:1");
    assertWorkAndLogsPass(runner, worker);
  }

  @Test
  void aRunningTaskIsKilled() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    LaunchSpec launch = launch(worker.self(), "node", "exec sleep 100");
    runner.start(launch);
    assertThat(
            runner.kill(
                "job", "node", launch.invocation(), new KillRequest(KillRequest.Method.KILL, 0)))
        .isTrue();
    assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(runner.mayBeAlive("job", "node", launch.invocation())).isFalse();
  }

  @Test
  void aWorkerConfirmsARecallAndWhatRunsThereGoesOn() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    Path begun = directory.resolve("begun");
    Path go = directory.resolve("go");
    LaunchSpec launch =
        launch(
            worker.self(),
            "node",
            "echo > '%s'; while [ ! -e '%s' ]; do sleep 0.05; done; echo done > $2"
                .formatted(begun, go));
    runner.start(launch);
    await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(begun));
    assertThat(runner.recall(List.of(launch))).isTrue();
    ends.awaitRecalled(launch);
    assertThat(ends.all()).isEmpty();
    Files.createFile(go);
    assertThat(ended(runner, launch).rawStatus()).isEqualTo("done");
  }

  @Test
  void whatIsRecalledBeforeItIsSentEndsAsNeverStarted() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    List<LaunchSpec> many = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      many.add(launch(worker.self(), "node" + i, "exec sleep 300"));
    }
    many.forEach(runner::start);
    assertThat(runner.recall(many)).isTrue();
    for (LaunchSpec each : many) {
      if (ends.of(each).isEmpty()) {
        runner.kill(
            "job", each.node(), each.invocation(), new KillRequest(KillRequest.Method.KILL, 0));
      }
    }
    for (LaunchSpec each : many) {
      TaskResult end = ended(runner, each);
      assertThat(end.kind()).isIn(TaskResult.Kind.NOT_STARTED, TaskResult.Kind.KILLED);
      assertThat(end.startedAtMillis() > 0)
          .as("%s", end)
          .isEqualTo(end.kind() == TaskResult.Kind.KILLED);
    }
  }

  @Test
  void thousandsOfTasksOverThreeWorkersEndOnceEach() throws Exception {
    // It is about their number: on a busy machine a call may take longer than the short ones allow.
    RemoteRunner runner = scheduler(1, 0, List.of(), ProtocolTimers.QUICK);
    List<WorkerAgent> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(worker("w" + i, runner, true));
    }
    awaitHealthy(runner, 3);
    int count = 20_000;
    for (int i = 0; i < count; i++) {
      runner.start(launch(workers.get(i % 3).self(), "node" + i, ""));
    }
    List<TaskResult> all = ends.awaitCount(count);
    all.forEach(runner::recorded);
    assertThat(all).hasSize(count).allMatch(end -> "done".equals(end.rawStatus()));
    assertThat(all.stream().map(TaskResult::invocation).distinct().count()).isEqualTo(count);
  }

  @Tag("slow")
  @Test
  void aWorkerThatGoesAwayLosesItsTasksAfterTheLeaseAndNotBefore() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    LaunchSpec launch =
        launch(
            worker.self(),
            "node",
            "while sleep 0.05; do date +%s%3N > alive.new; mv alive.new alive; done");
    runner.start(launch);
    Path alive = directory.resolve("w1/jobs/job/alive");
    await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(alive));
    // It can still be reached, but nobody hears it any more.
    runner.close();
    RemoteRunner other =
        scheduler(2, 0, List.of(new Assignment("job", "node", launch.invocation(), worker.self())));
    TaskResult end = ends.await(launch);
    long told = System.currentTimeMillis();
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.LOST);
    assertThat(Long.parseLong(Files.readString(alive).strip())).isLessThanOrEqualTo(told);
    assertThat(other.mayBeAlive("job", "node", launch.invocation())).isFalse();
  }

  @Test
  void aNewSchedulerTakesOverWhatRuns() throws Exception {
    RemoteRunner first = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", first, false);
    awaitHealthy(first, 1);
    Path go = directory.resolve("go");
    LaunchSpec launch =
        launch(
            worker.self(), "node", "until [ -e " + go + " ]; do sleep 0.05; done; echo kept > $2");
    first.start(launch);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> Files.isDirectory(directory.resolve("w1/jobs/job")));
    int port = first.address().getPort();
    first.close();
    RemoteRunner second =
        scheduler(
            2, port, List.of(new Assignment("job", "node", launch.invocation(), worker.self())));
    awaitHealthy(second, 1);
    Files.writeString(go, "");
    TaskResult end = ended(second, launch);
    assertThat(end.rawStatus()).isEqualTo("kept");
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
  }

  @Test
  void outputOfAllWorkersIsReadAndFollowedTogetherAndWhoDoesNotAnswerIsNamed() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent one = worker("w1", runner, false);
    WorkerAgent two = worker("w2", runner, false);
    awaitHealthy(runner, 2);
    PoolLogs logs = opened(runner.logs(new MemoryLogStore()));
    LogQuery query = LogQuery.of(LogLine.Stream.STDOUT);
    LogPage begin = logs.follow(query, Map.of()).toCompletableFuture().get();
    assertThat(begin.lines()).isEmpty();
    LaunchSpec first = launch(one.self(), "a", "echo one; echo two; echo done > $2");
    LaunchSpec second = launch(two.self(), "b", "echo three; echo done > $2");
    runner.start(first);
    runner.start(second);
    ended(runner, first);
    ended(runner, second);

    LogPage page = logs.query(query).toCompletableFuture().get();
    assertThat(page.lines())
        .extracting(line -> line.node() + " " + line.text())
        .containsExactlyInAnyOrder("a one\n", "a two\n", "b three\n");
    assertThat(page.missing()).isEmpty();
    LogPage news = logs.follow(query, begin.positions()).toCompletableFuture().get();
    assertThat(news.lines()).containsExactlyInAnyOrderElementsOf(page.lines());
    LaunchSpec third = launch(two.self(), "c", "echo four; echo done > $2");
    runner.start(third);
    ended(runner, third);
    assertThat(logs.follow(query, news.positions()).toCompletableFuture().get().lines())
        .extracting(LogLine::text)
        .containsExactly("four\n");

    two.close();
    page = logs.query(query).toCompletableFuture().get();
    assertThat(page.lines()).extracting(LogLine::node).containsOnly("a");
    assertThat(page.missing()).singleElement().asString().startsWith("w2: the connection to ");
  }

  @Test
  void w22AllThreeStreamsOfATaskAreThereAndItsEventsInOrder() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    PoolLogs logs = opened(runner.logs(new MemoryLogStore()));
    LaunchSpec launch = launch(worker.self(), "node", "echo out; echo err >&2; echo done > $2");
    runner.start(launch);
    ended(runner, launch);
    assertThat(texts(logs, LogLine.Stream.STDOUT)).containsExactly("out\n");
    assertThat(texts(logs, LogLine.Stream.STDERR)).containsExactly("err\n");
    assertThat(
            texts(logs, LogLine.Stream.STATUSES).stream()
                .map(text -> text.replaceAll("(?s).*\"event\":\"([a-z_]+)\".*", "$1")))
        .startsWith("running")
        .endsWith("got_status")
        .containsExactlyInAnyOrder("running", "task_pipes_closed", "process_exited", "got_status");
  }

  private static List<String> texts(PoolLogs logs, LogLine.Stream stream) throws Exception {
    return logs
        .query(LogQuery.of(stream).withJobs(List.of("job")))
        .toCompletableFuture()
        .get()
        .lines()
        .stream()
        .map(LogLine::text)
        .toList();
  }

  @Tag("slow")
  @Test
  void w23AWorkerThatIsStoppedTellsItsTasksAndTheSchedulerHowTheyEnded() throws Exception {
    RemoteRunner runner = scheduler(1, 0, List.of());
    WorkerAgent worker = worker("w1", runner, false);
    awaitHealthy(runner, 1);
    List<LaunchSpec> both = new ArrayList<>();
    for (String node : List.of("a", "b")) {
      LaunchSpec launch =
          launch(
              worker.self(),
              node,
              "trap 'echo term > heard.%s; exit 1' TERM; echo > ready.%s; while :; do sleep 0.05; done"
                  .replace("%s", node));
      both.add(launch);
      runner.start(launch);
    }
    Path work = directory.resolve("w1/jobs/job");
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> Files.exists(work.resolve("ready.a")) && Files.exists(work.resolve("ready.b")));
    worker.close();
    for (LaunchSpec launch : both) {
      assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
    }
    assertThat(work.resolve("heard.a")).hasContent("term");
    assertThat(work.resolve("heard.b")).hasContent("term");
  }

  private static CallExecutor calls(LogStore logs) {
    return new CallExecutor(new TaskLog(logs, "host", end -> Json.Obj.EMPTY));
  }
}
