package io.espalier.thrift.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.json.Json;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.TaskCommand;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Counters;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.json.JsonReader;
import io.espalier.thrift.gen.WireFacts;
import io.espalier.thrift.gen.WireHeartbeat;
import io.espalier.thrift.gen.WireHeartbeatAnswer;
import io.espalier.thrift.gen.WireHostFigures;
import io.espalier.thrift.gen.WireRecipe;
import io.espalier.thrift.gen.WireStart;
import io.espalier.thrift.gen.WireWork;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;

/** What arrives is what was sent; what cannot be is refused as a whole. */
class WireTest {
  private static final JsonDecoder JSON = JsonReader::parse;
  private static final WorkerRef WORKER = new WorkerRef("w1", 77);

  /** Over the bytes, as on the wire. */
  private static <T extends TBase<T, ?>> T sent(T message) throws TException {
    TMemoryBuffer bytes = new TMemoryBuffer(1_000);
    message.write(new TCompactProtocol(bytes));
    T copy = message.deepCopy();
    copy.clear();
    copy.read(new TCompactProtocol(bytes));
    return copy;
  }

  private static LaunchSpec launch(String node, LogOptions logs, SubprocessOptions subprocess) {
    return new LaunchSpec(
        "job",
        node,
        new Invocation(3, 9, 1_000),
        2,
        List.of("./a", "b c", ""),
        Json.object().put("x", "\u20ac\u0000").put("n", 7).build(),
        StatusSource.EXIT_CODE,
        subprocess,
        new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 1_234),
        new InvocationLimits(1, 2, 3),
        WORKER,
        Map.of("slots", 2),
        logs,
        null,
        7);
  }

  private static WorkBatch work(List<LaunchSpec> starts) {
    RunId run = new RunId("job", "n", new Invocation(3, 1, 5));
    return new WorkBatch(
        3,
        8,
        WORKER,
        44,
        starts,
        List.of(
            new TaskCommand(run, 1, new KillRequest(KillRequest.Method.KILL, 0), 0),
            new TaskCommand(run, 2, null, 60_000),
            TaskCommand.throttle(run, 3, new Throttle(0.25, "probe lag is 9")),
            TaskCommand.throttle(run, 4, new Throttle(0, "")),
            TaskCommand.recall(run, 5)),
        List.of(run),
        List.of(new RunId("other", "m", new Invocation(2, 4, 6))));
  }

  @Test
  void aCallArrivesAsItWasSentAndAnOldWorkerRunsNothingInstead() throws TException {
    LaunchSpec process = launch("a", LogOptions.DEFAULT, SubprocessOptions.DEFAULT);
    Call call =
        Call.of(
            new CallSpec("http", Json.object().put("url", "x").build(), true, Duration.ofDays(1)),
            "job",
            0,
            process.invocation(),
            2,
            List.of("instance", "host"),
            List.of("i", "\u20ac"),
            new InvocationLimits(1, 2, 3));
    LaunchSpec calling =
        launch("b", LogOptions.DEFAULT, SubprocessOptions.DEFAULT)
            .with()
            .command(List.of())
            .call(call)
            .build();
    WireWork wire = sent(WireWorks.of(work(List.of(process, calling, process))));
    assertThat(new WireWorks(JSON).work(wire)).isEqualTo(work(List.of(process, calling, process)));
    WireStart old = Objects.requireNonNull(wire.getStarts()).get(1);
    assertThat(Objects.requireNonNull(wire.getRecipes()).get(old.getRecipe()).getCommand())
        .containsExactly("/espalier: this worker is too old to make calls");
    old.setCall("{\"executor\": 1}");
    assertThatThrownBy(() -> new WireWorks(JSON).work(wire))
        .isInstanceOf(BadMessageException.class)
        .hasMessage("the call of a task cannot be read");
  }

  @Test
  void aBatchOfWorkArrivesAsItWasSent() throws TException {
    SubprocessOptions everything =
        new SubprocessOptions(
            99,
            5,
            9,
            true,
            new SubprocessOptions.Cgroups("/sys/fs/cgroup", "espalier", List.of("cpu"), true),
            new ProcessAttributes(
                OptionalInt.of(22),
                OptionalInt.of(-5),
                Optional.of(new ProcessAttributes.IoNice(ProcessAttributes.IoClass.BEST_EFFORT, 7)),
                Optional.of(new ProcessAttributes.RunAs("nobody", Optional.empty()))),
            new TaskVariables(List.of("LANG"), Map.of("A", "b")),
            new CgroupLimits(
                OptionalLong.of(1),
                OptionalLong.empty(),
                OptionalInt.of(3),
                OptionalInt.empty(),
                OptionalInt.of(4),
                OptionalInt.empty(),
                true));
    LogOptions logs =
        new LogOptions(OptionalInt.of(90), OptionalLong.of(5), List.of("ticket=(?<secret>.*)"));
    WorkBatch work =
        work(
            List.of(
                launch("a", LogOptions.DEFAULT, SubprocessOptions.DEFAULT),
                launch("b", logs, everything),
                launch("c", logs, everything),
                launch("d", LogOptions.DEFAULT, SubprocessOptions.DEFAULT)));
    WireWork wire = WireWorks.of(work);
    assertThat(wire.getRecipes()).hasSize(2);
    assertThat(new WireWorks(JSON).work(sent(wire))).isEqualTo(work);
  }

  @Test
  void labelsArriveAndTheReleaseBeforeHasNone() throws TException {
    WorkerDescription facts = WorkerDescription.of("host").labels(Map.of("arch", "arm64")).build();
    WireFacts wire = Wire.of(facts);
    assertThat(Wire.facts(sent(wire))).isEqualTo(facts);
    wire.unsetLabels();
    assertThat(Wire.facts(sent(wire)).labels()).isEmpty();
    wire.setLabels(Map.of("a b", "1"));
    assertThatThrownBy(() -> Wire.facts(sent(wire)))
        .isInstanceOf(BadMessageException.class)
        .hasMessageContaining("its labels: a b=1: a name has");
  }

  @Test
  void whatAWorkerHasMeasuredArrivesAndWithoutItNothingIsKnown() throws TException {
    for (MeasuredLoad measured :
        List.of(new MeasuredLoad(0, 1_000), new MeasuredLoad(-1, 70), MeasuredLoad.UNKNOWN)) {
      WorkerDescription facts = WorkerDescription.of("host").measured(measured).build();
      WireFacts wire = Wire.of(facts);
      assertThat(Wire.facts(sent(wire))).isEqualTo(facts);
      wire.unsetCpuInUse();
      wire.unsetMemoryInUse();
      assertThat(Wire.facts(sent(wire)).measured()).isEqualTo(MeasuredLoad.UNKNOWN);
    }
  }

  @Test
  void figuresOfTheHostArriveAndTheReleaseBeforeSendsNone() throws TException {
    Space memory = new Space(8_000, 3_000);
    Space disk = new Space(Long.MAX_VALUE, 0);
    for (HostFigures figures :
        List.of(
            new HostFigures(1_250, memory, disk),
            new HostFigures(0, memory, Space.UNKNOWN),
            HostFigures.UNKNOWN)) {
      WorkerDescription facts = WorkerDescription.of("host").figures(figures).build();
      WireFacts wire = Wire.of(facts);
      assertThat(Wire.facts(sent(wire))).isEqualTo(facts);
      wire.unsetFigures();
      assertThat(Wire.facts(sent(wire)).figures()).isEqualTo(HostFigures.UNKNOWN);
    }
  }

  @Test
  void figuresThatCannotBeTrueAreUnknownAndNoReasonToRefuseTheRest() throws TException {
    long[][] lies = {
      {-1, -1}, {0, 0}, {10, -1}, {10, 11}, {-10, 5}, {Long.MIN_VALUE, Long.MAX_VALUE}
    };
    for (long[] lie : lies) {
      WireHostFigures figures = new WireHostFigures();
      figures.setLoadThousandths(Integer.MIN_VALUE);
      figures.setMemoryTotalBytes(lie[0]);
      figures.setMemoryAvailableBytes(lie[1]);
      figures.setDiskTotalBytes(8_000);
      figures.setDiskFreeBytes(3_000);
      assertThat(read(figures))
          .isEqualTo(new HostFigures(-1, Space.UNKNOWN, new Space(8_000, 3_000)));
      figures.setLoadThousandths(Integer.MAX_VALUE);
      figures.setDiskTotalBytes(lie[0]);
      figures.setDiskFreeBytes(lie[1]);
      assertThat(read(figures))
          .isEqualTo(new HostFigures(Integer.MAX_VALUE, Space.UNKNOWN, Space.UNKNOWN));
    }
    WireHostFigures half = new WireHostFigures();
    half.setMemoryTotalBytes(10);
    half.setDiskFreeBytes(10);
    assertThat(read(half)).isEqualTo(HostFigures.UNKNOWN);
  }

  private static HostFigures read(WireHostFigures figures) throws TException {
    WireFacts wire = Wire.of(WorkerDescription.of("host").build());
    wire.setFigures(figures);
    return Wire.facts(sent(wire)).figures();
  }

  @Test
  void theStoreOfAHeartbeatArrivesAndThatOfTheReleaseBeforeIsNone() throws TException {
    Heartbeat heartbeat =
        new Heartbeat(
            WORKER,
            1,
            2,
            3,
            WorkerDescription.of("host").address("w1:1").build(),
            false,
            true,
            "",
            0,
            0,
            List.of(),
            List.of(),
            "a store");
    WireHeartbeat wire = WireReports.of(heartbeat);
    assertThat(WireReports.heartbeat(sent(wire))).isEqualTo(heartbeat);
    wire.unsetStoreId();
    assertThat(WireReports.heartbeat(sent(wire)).storeId()).isEmpty();

    HeartbeatResponse answer =
        new HeartbeatResponse(
            1,
            HeartbeatResponse.Verdict.ACCEPTED,
            2,
            3,
            1,
            ProtocolTimers.QUICK,
            false,
            "",
            "a store");
    WireHeartbeatAnswer wireAnswer = WireReports.of(answer);
    assertThat(WireReports.heartbeatAnswer(sent(wireAnswer))).isEqualTo(answer);
    wireAnswer.unsetStoreId();
    assertThat(WireReports.heartbeatAnswer(sent(wireAnswer)).storeId()).isEmpty();
  }

  @Test
  void aReportArrivesAsItWasSent() throws TException {
    RunId run = new RunId("job", "n", new Invocation(3, 1, 5));
    ResourceUsage live = new ResourceUsage(1, 2, 3, 4, 5, List.of("A100 0000:01"));
    Report report =
        new Report(
            WORKER,
            12,
            List.of(
                TaskResult.of("job", "n", run.invocation(), TaskResult.Kind.KILLED)
                    .withRawStatus("half \ud83d\ude00")
                    .withExit(null, 9)
                    .withMessage("told to")
                    .withStartedAtMillis(1_790_000_000_000L)
                    .withCounters(new Counters(Map.of("rows", 7L, "bytes", 0L)))
                    .withStopReason(StopReason.LEASE_LOST),
                TaskResult.notStarted("job", "m", run.invocation(), "busy", 5_000)),
            List.of(
                new Report.ProgressOf(
                    run,
                    new Progress(
                        1L,
                        null,
                        "c",
                        Json.object().put("done", 1).build(),
                        new Counters(Map.of("rows", 5L)),
                        new CallPoll(1_790_000_000_000L, "running", 0))),
                new Report.ProgressOf(
                    new RunId("job", "m", new Invocation(3, 2, 5)),
                    Progress.NONE.withCounters(new Counters(Map.of("bytes", 1L << 60)))),
                new Report.ProgressOf(
                    new RunId("job", "k", new Invocation(3, 3, 5)),
                    Progress.NONE.withPoll(new CallPoll(1, "HTTP 500", 1L << 60)))),
            List.of(
                new Report.UsageOf(run, live),
                new Report.UsageOf(run, new ResourceUsage(1, -1, 3, -1))),
            "a store");
    assertThat(new WireReports(JSON).report(sent(WireReports.of(report)))).isEqualTo(report);
  }

  // What is spoilt here was made here, and is complete.
  @SuppressWarnings("NullAway")
  @Test
  void whatCannotBeIsRefusedAsAWhole() {
    refused(work -> work.getStarts().get(0).setRecipe(1), "without its recipe");
    refused(work -> work.getStarts().get(0).setRecipe(-1), "without its recipe");
    refused(work -> work.getStarts().get(0).setArgument("[1]"), "no JSON object");
    refused(work -> work.getStarts().get(0).setRun(null), "run");
    refused(work -> work.getStarts().get(0).setTimeoutMillis(-1), "");
    refused(work -> recipe(work).setStatusFrom("tea leaves"), "tea leaves");
    refused(work -> recipe(work).setSubprocess(null), "process options");
    refused(work -> recipe(work).getKill().setMethod("stare"), "stare");
    refused(work -> recipe(work).getLogs().setRedact(List.of("(")), "hide");
    refused(work -> recipe(work).getLogs().setRetentionDays(-1), "less than no time");
    refused(work -> work.setWorker(null), "worker");
  }

  @SuppressWarnings("NullAway")
  private static WireRecipe recipe(WireWork work) {
    return work.getRecipes().get(0);
  }

  private static void refused(Consumer<WireWork> spoil, String why) {
    WireWork wire =
        WireWorks.of(work(List.of(launch("a", LogOptions.DEFAULT, SubprocessOptions.DEFAULT))));
    spoil.accept(wire);
    assertThatThrownBy(() -> new WireWorks(JSON).work(wire))
        .isInstanceOf(BadMessageException.class)
        .hasMessageContaining(why);
  }
}
