package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.status.ProgressParser;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * How a worker reports the ends of tasks, until they are settled. W numbers:
 * docs/workers-conformance.md.
 */
class WorkerReportsTest extends WorkerProtocolFixture {
  @Test
  void w24AnEndIsKeptAndSentAgainUntilItIsSettled() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    ends(a, Kind.KILLED);
    RunId run = RunId.of(a);
    assertThat(reports).hasSize(1);
    assertThat(side.work(batch(List.of(), List.of(), List.of(run)), now()).asked())
        .containsExactly(RunState.ENDED);
    side.reportFailed(reports.get(0).number(), now());
    List<Long> again = new ArrayList<>();
    long began = now;
    for (int second = 1; second <= 100; second++) {
      int sent = reports.size();
      int beats = heartbeats.size();
      after(1_000);
      if (heartbeats.size() > beats) {
        hears(Verdict.ACCEPTED);
      }
      if (reports.size() > sent) {
        again.add((now - began) / 1_000);
        side.reportFailed(reports.get(reports.size() - 1).number(), now());
      }
    }
    assertThat(again).startsWith(1L, 3L, 7L, 15L, 31L, 61L, 91L);
    assertThat(side.unsettled()).isEqualTo(1);
    side.work(
        new WorkBatch(
            epoch, session, SELF, ++batches, List.of(), List.of(), List.of(), List.of(run)),
        now());

    assertThat(side.unsettled()).isZero();
    int sent = reports.size();
    after(100_000);
    assertThat(reports).hasSize(sent);
  }

  @Test
  void endsGoInBatchesAndAnAnswerSettlesThemToo() {
    registered();
    side.facts(facts(0));
    List<LaunchSpec> all = new ArrayList<>();
    for (int i = 0; i < 700; i++) {
      all.add(launch("n" + i));
    }
    starts(all.toArray(new LaunchSpec[0]));
    all.forEach(launch -> side.ended(end(launch, Kind.EXITED), now()));
    step();
    assertThat(reports).singleElement().matches(r -> r.ends().size() == 500);
    side.reportAnswered(
        new ReportResponse(
            reports.get(0).number(), true, reports.get(0).ends().stream().map(RunId::of).toList()),
        now());
    step();

    assertThat(reports.get(1).ends()).hasSize(200);
    assertThat(side.unsettled()).isEqualTo(200);
  }

  @Test
  void aNewSchedulerHearsOfAllEndsAtOnce() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    ends(a, Kind.EXITED);
    for (int i = 0; i < 8; i++) {
      side.reportFailed(reports.get(reports.size() - 1).number(), now());
      after(TIMERS.reportMaxMillis());
    }
    side.reportFailed(reports.get(reports.size() - 1).number(), now());
    int sent = reports.size();
    epoch = 5;
    session = 1;
    side.heartbeatFailed(lastHeartbeat().number(), now());
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);
    hears(Verdict.ACCEPTED);

    assertThat(reports.size()).isGreaterThan(sent);
  }

  private static Progress upTo(String cursor) {
    return ProgressParser.of(Json.object().put("cursor", cursor).build());
  }

  private List<String> progress(Report report) {
    return report.progress().stream()
        .map(of -> of.run().node() + " to " + of.progress().cursor())
        .toList();
  }

  private Report lastReport() {
    return reports.get(reports.size() - 1);
  }

  @Test
  void theLastProgressGoesWithEachCopyOfTheEnd() {
    registered();
    LaunchSpec a = launch("a");
    LaunchSpec b = launch("b");
    starts(a, b);
    side.progress(RunId.of(a), upTo("7"));
    step();
    assertThat(progress(lastReport())).containsExactly("a to 7");
    side.reportAnswered(new ReportResponse(lastReport().number(), true, List.of()), now());
    side.progress(RunId.of(b), upTo("8"));
    ends(a, Kind.EXITED);
    assertThat(progress(lastReport()))
        .as("a scheduler may have ended before it stored the first")
        .containsExactly("a to 7", "b to 8");
    side.reportFailed(lastReport().number(), now());
    side.progress(RunId.of(a), upTo("9"));
    after(TIMERS.reportMaxMillis());
    assertThat(lastReport().ends()).hasSize(1);
    assertThat(progress(lastReport())).containsExactly("a to 7", "b to 8");
    side.reportAnswered(
        new ReportResponse(lastReport().number(), true, List.of(RunId.of(a))), now());
    int sent = reports.size();
    after(TIMERS.reportMaxMillis());
    assertThat(reports).as("nothing is new").hasSize(sent);
  }

  @Test
  void progressWhoseReportIsLostIsSentAgain() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    side.progress(RunId.of(a), upTo("7"));
    step();
    Report lost = lastReport();
    side.reportFailed(lost.number(), now());
    after(TIMERS.reportMaxMillis());
    assertThat(lastReport().number()).isGreaterThan(lost.number());
    assertThat(progress(lastReport())).containsExactly("a to 7");
    side.reportFailed(lastReport().number(), now());
    side.progress(RunId.of(a), upTo("9"));
    after(TIMERS.reportMaxMillis());
    assertThat(progress(lastReport())).containsExactly("a to 9");
  }

  @Test
  void aDrainedWorkerEndsWhenItsLastEndIsSettled() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    side.drain(now());
    step();
    assertThat(lastHeartbeat().draining()).isTrue();
    ends(a, Kind.EXITED);
    assertThat(done).doesNotContain("drained");
    side.reportAnswered(
        new ReportResponse(reports.get(0).number(), true, List.of(RunId.of(a))), now());
    step();

    assertThat(done).containsOnlyOnce("drained");
  }
}
