package io.espalier.thrift.wire;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.gen.WireCounters;
import io.espalier.thrift.gen.WireEnd;
import io.espalier.thrift.gen.WireEndKind;
import io.espalier.thrift.gen.WireHeartbeat;
import io.espalier.thrift.gen.WireHeartbeatAnswer;
import io.espalier.thrift.gen.WireHeartbeatVerdict;
import io.espalier.thrift.gen.WirePoll;
import io.espalier.thrift.gen.WireProgress;
import io.espalier.thrift.gen.WireReport;
import io.espalier.thrift.gen.WireReportAnswer;
import io.espalier.thrift.gen.WireSample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Converts a worker's reports and the answers. Thread-safe; reading throws {@link
 * BadMessageException}.
 */
public final class WireReports {
  private static final int MAX_PROGRESS = Progress.MAX_BYTES;

  private final JsonDecoder json;

  /**
   * @param json decoder of the JSON of progress
   */
  public WireReports(JsonDecoder json) {
    this.json = json;
  }

  public static WireHeartbeat of(Heartbeat heartbeat) {
    WireHeartbeat wire =
        new WireHeartbeat(
            Wire.of(heartbeat.worker()),
            heartbeat.number(),
            heartbeat.epoch(),
            heartbeat.session(),
            Wire.of(heartbeat.facts()),
            heartbeat.draining(),
            heartbeat.healthy(),
            heartbeat.note(),
            heartbeat.running(),
            heartbeat.unsettled(),
            Wire.each(heartbeat.runs(), Wire::of),
            heartbeat.cleared());
    wire.setStoreId(Wire.orNone(heartbeat.storeId()));
    return wire;
  }

  public static Heartbeat heartbeat(@Nullable WireHeartbeat wire) {
    WireHeartbeat heartbeat = Wire.present(wire, "a heartbeat");
    return new Heartbeat(
        Wire.worker(heartbeat.getWorker()),
        heartbeat.getNumber(),
        heartbeat.getEpoch(),
        heartbeat.getSession(),
        Wire.facts(heartbeat.getFacts()),
        heartbeat.isDraining(),
        heartbeat.isHealthy(),
        Wire.text(heartbeat.getNote()),
        heartbeat.getRunning(),
        heartbeat.getUnsettled(),
        Wire.each(heartbeat.getRuns(), Wire::run),
        heartbeat.getCleared() == null ? List.of() : heartbeat.getCleared(),
        Wire.text(heartbeat.getStoreId()));
  }

  public static WireHeartbeatAnswer of(HeartbeatResponse answer) {
    WireHeartbeatAnswer wire =
        new WireHeartbeatAnswer(
            answer.number(),
            WireHeartbeatVerdict.valueOf(answer.verdict().name()),
            answer.epoch(),
            answer.session(),
            answer.version(),
            answer.timers().values(),
            answer.drain(),
            answer.message());
    wire.setStoreId(Wire.orNone(answer.storeId()));
    return wire;
  }

  public static HeartbeatResponse heartbeatAnswer(@Nullable WireHeartbeatAnswer wire) {
    WireHeartbeatAnswer answer = Wire.present(wire, "an answer");
    return new HeartbeatResponse(
        answer.getNumber(),
        HeartbeatResponse.Verdict.valueOf(Wire.present(answer.getVerdict(), "a verdict").name()),
        answer.getEpoch(),
        answer.getSession(),
        answer.getVersion(),
        timers(Wire.map(answer.getTimers())),
        answer.isDrain(),
        Wire.text(answer.getMessage()),
        Wire.text(answer.getStoreId()));
  }

  private static ProtocolTimers timers(Map<String, Long> wire) {
    // A timer that the other release does not know yet keeps its default.
    Map<String, Long> values = new LinkedHashMap<>(ProtocolTimers.BALANCED.values());
    values.putAll(wire);
    ProtocolTimers timers = ProtocolTimers.of(values);
    if (!timers.problems().isEmpty()) {
      throw new BadMessageException("its timers do not fit together: " + timers.problems().get(0));
    }
    return timers;
  }

  public static WireReport of(Report report) {
    WireReport wire =
        new WireReport(
            Wire.of(report.worker()),
            report.number(),
            Wire.each(report.ends(), WireReports::of),
            Wire.each(
                report.progress().stream().filter(of -> !of.progress().isEmpty()).toList(),
                WireReports::of),
            Wire.each(
                report.usage(),
                sample -> new WireSample(Wire.of(sample.run()), Wire.of(sample.usage()))));
    wire.setStoreId(Wire.orNone(report.storeId()));
    List<WireCounters> counters = new ArrayList<>();
    for (Report.ProgressOf of : report.progress()) {
      if (!of.progress().counters().isEmpty()) {
        counters.add(new WireCounters(Wire.of(of.run()), of.progress().counters().values()));
      }
    }
    if (!counters.isEmpty()) {
      wire.setCounters(counters);
    }
    List<WirePoll> polls = new ArrayList<>();
    for (Report.ProgressOf of : report.progress()) {
      CallPoll poll = of.progress().poll();
      if (poll != null) {
        polls.add(
            new WirePoll(Wire.of(of.run()), poll.atMillis(), poll.answer(), poll.nextMillis()));
      }
    }
    if (!polls.isEmpty()) {
      wire.setPolls(polls);
    }
    return wire;
  }

  public Report report(@Nullable WireReport wire) {
    WireReport report = Wire.present(wire, "a report");
    Map<RunId, Progress> newest = new LinkedHashMap<>();
    for (WireProgress each : Wire.each(report.getProgress(), p -> p)) {
      Report.ProgressOf of = progress(each);
      newest.put(of.run(), of.progress());
    }
    for (WireCounters each : Wire.each(report.getCounters(), c -> c)) {
      Counters counters = counters(each.getValues());
      newest.compute(
          Wire.run(each.getRun()),
          (run, known) -> (known == null ? Progress.NONE : known).withCounters(counters));
    }
    for (WirePoll each : Wire.each(report.getPolls(), p -> p)) {
      CallPoll poll =
          new CallPoll(each.getAtMillis(), Wire.text(each.getAnswer()), each.getNextMillis());
      newest.compute(
          Wire.run(each.getRun()),
          (run, known) -> (known == null ? Progress.NONE : known).withPoll(poll));
    }
    List<Report.ProgressOf> progress = new ArrayList<>();
    newest.forEach((run, of) -> progress.add(new Report.ProgressOf(run, of)));
    return new Report(
        Wire.worker(report.getWorker()),
        report.getNumber(),
        Wire.each(report.getEnds(), WireReports::end),
        progress,
        Wire.each(
            report.getUsage(),
            sample ->
                new Report.UsageOf(
                    Wire.run(sample.getRun()),
                    Wire.usage(Wire.present(sample.getUsage(), "a usage")))),
        Wire.text(report.getStoreId()));
  }

  public static WireReportAnswer of(ReportResponse answer) {
    return new WireReportAnswer(
        answer.number(), answer.accepted(), Wire.each(answer.settled(), Wire::of));
  }

  public static ReportResponse reportAnswer(@Nullable WireReportAnswer wire) {
    WireReportAnswer answer = Wire.present(wire, "an answer");
    return new ReportResponse(
        answer.getNumber(), answer.isAccepted(), Wire.each(answer.getSettled(), Wire::run));
  }

  static WireEnd of(TaskResult end) {
    WireEnd wire = new WireEnd();
    wire.setRun(Wire.of(end.job(), end.node(), end.invocation()));
    wire.setKind(WireEndKind.valueOf(end.kind().name()));
    wire.setRawStatus(end.rawStatus());
    if (end.exitCode() != null) {
      wire.setExitCode(end.exitCode());
    }
    if (end.signal() != null) {
      wire.setSignal(end.signal());
    }
    wire.setMessage(end.message());
    if (end.stopReason() != null) {
      wire.setStopReason(end.stopReason().name());
    }
    wire.setCoreDumped(end.coreDumped());
    if (end.usage() != null) {
      wire.setUsage(Wire.of(end.usage()));
    }
    wire.setEndedAtMillis(end.endedAtMillis());
    wire.setRetryAfterMillis(end.retryAfterMillis());
    if (end.startedAtMillis() > 0) {
      wire.setStartedAtMillis(end.startedAtMillis());
    }
    if (!end.counters().isEmpty()) {
      wire.setCounters(end.counters().values());
    }
    return wire;
  }

  static TaskResult end(WireEnd wire) {
    RunId run = Wire.run(wire.getRun());
    return new TaskResult(
        run.job(),
        run.node(),
        run.invocation(),
        TaskResult.Kind.valueOf(Wire.present(wire.getKind(), "a kind of end").name()),
        wire.getRawStatus(),
        wire.isSetExitCode() ? wire.getExitCode() : null,
        wire.isSetSignal() ? wire.getSignal() : null,
        wire.getMessage(),
        wire.isSetStopReason()
            ? Wire.word(StopReason.values(), StopReason::name, wire.getStopReason(), "stop reason")
            : null,
        wire.isCoreDumped(),
        wire.isSetUsage() ? Wire.usage(wire.getUsage()) : null,
        wire.getEndedAtMillis(),
        wire.getRetryAfterMillis(),
        wire.getStartedAtMillis(),
        counters(wire.getCounters()));
  }

  private static Counters counters(@Nullable Map<String, Long> wire) {
    Map<String, Long> values = Wire.map(wire);
    String problem = Counters.problem(values);
    if (problem != null) {
      throw new BadMessageException("its count " + problem);
    }
    return values.isEmpty() ? Counters.NONE : new Counters(values);
  }

  private static WireProgress of(Report.ProgressOf of) {
    Progress progress = of.progress();
    WireProgress wire = new WireProgress();
    wire.setRun(Wire.of(of.run()));
    if (progress.done() != null) {
      wire.setDone(progress.done());
    }
    if (progress.total() != null) {
      wire.setTotal(progress.total());
    }
    wire.setCursor(progress.cursor());
    wire.setJson(JsonWriter.compact(progress.json()));
    return wire;
  }

  private Report.ProgressOf progress(WireProgress wire) {
    String text = Wire.present(wire.getJson(), "the JSON of a progress");
    // A correct worker sends no longer text, so counting characters suffices here.
    if (text.length() > MAX_PROGRESS || !(json.read(text).value() instanceof Json.Obj object)) {
      throw new BadMessageException(
          "a progress is no JSON object of at most " + MAX_PROGRESS + " bytes");
    }
    return new Report.ProgressOf(
        Wire.run(wire.getRun()),
        new Progress(
            wire.isSetDone() ? wire.getDone() : null,
            wire.isSetTotal() ? wire.getTotal() : null,
            wire.getCursor(),
            object,
            Counters.NONE,
            null));
  }
}
