package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.StartRate;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a job says of its own starts: how many at once, how often. */
final class JobThrottleTest {
  private static final int TASKS = 500;
  private static final long START = 1_000_000;

  private final SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config = new ConfigFixture("db");
  private final String[] nodes =
      IntStream.range(0, TASKS).mapToObj(i -> "d" + i).toArray(String[]::new);
  private final List<Long> runs = new ArrayList<>();
  private long now = START;

  private void apply(JobFixture... jobs) {
    for (JobFixture job : jobs) {
      config.job("a", job);
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), nodes), now);
    core.verify();
  }

  private static JobFixture job() {
    return new JobFixture("a");
  }

  private static JobFixture rated(double perSecond, int burst) {
    return job().startRate(new StartRate(perSecond, burst));
  }

  /** A round at the present instant. */
  private int round() {
    int before = runs.size();
    while (!core.advance(now, 10)) {
      // In slices.
    }
    while (!core.round(TestPolicies.IN_TURN, 7, runs::add)) {
      // In slices.
    }
    core.verify();
    return runs.size() - before;
  }

  /** The instants of the starts up to some time, sleeping from timer to timer as a loop does. */
  private List<Long> startsUntil(long end) {
    List<Long> instants = new ArrayList<>();
    while (now <= end) {
      for (int i = round(); i > 0; i--) {
        instants.add(now - START);
      }
      now = Math.min(core.nextTimerMillis(), end + 1);
    }
    return instants;
  }

  private Explanation explain() {
    return core.tasks().explain("a", "d499");
  }

  // ---- max_concurrent

  @Test
  void noMoreThanTheCapRunAtOnceUnderChurn() {
    apply(job().maxConcurrent(3));
    for (int i = 0; i < 100; i++) {
      assertThat(round()).isEqualTo(i == 0 ? 3 : 1);
      assertThat(core.running().count()).isEqualTo(3);
      core.finish(runs.get(i), null);
    }
  }

  @Test
  void theCapIsRaisedAndLoweredInPlaceAndKillsNothing() {
    apply(job().maxConcurrent(2));
    assertThat(round()).isEqualTo(2);
    apply(job().maxConcurrent(5));
    assertThat(round()).isEqualTo(3);
    apply(job().maxConcurrent(1));
    assertThat(core.running().count()).isEqualTo(5);
    assertThat(core.running().orphans()).isEmpty();
    for (int i = 0; i < 4; i++) {
      assertThat(round()).isZero();
      core.finish(runs.get(i), null);
    }
    assertThat(round()).isZero();
    core.finish(runs.get(4), null);
    assertThat(round()).isEqualTo(1);
    apply(job());
    assertThat(round()).isEqualTo(TASKS - 1);
  }

  @Test
  void adoptedTasksCountAlsoThoseOfNodesThatAreNotThere() {
    core.adopt("a", "d7", new WorkerRef("w", 1));
    core.adopt("a", "elsewhere", new WorkerRef("w", 1));
    apply(job().maxConcurrent(3));
    assertThat(round()).isEqualTo(1);
    assertThat(core.running().count()).isEqualTo(3);
  }

  @Test
  void explainNamesTheCap() {
    apply(job().maxConcurrent(2));
    round();
    Explanation.Reason reason = explain().reasons().get(0);
    assertThat(reason.kind()).isEqualTo(Kind.MAX_CONCURRENT);
    assertThat(List.of(reason.need(), reason.free(), reason.limit())).containsExactly(1, 0, 2);
    apply(job().maxConcurrent(1));
    assertThat(explain().reasons().get(0).free()).isEqualTo(-1);
  }

  @Test
  void explainCountsOneTaskAsOne() {
    apply(job().maxConcurrent(1));
    round();
    assertThat(explain().reasons().get(0).message())
        .isEqualTo("1 task of the job runs, \"max_concurrent\" lets 1 run at once");
  }

  // ---- start_rate

  @Test
  void aBucketBeginsEmptyAndStartsComeWithTheRate() {
    apply(rated(5, 10));
    assertThat(startsUntil(START + 1000)).containsExactly(200L, 400L, 600L, 800L, 1000L);
  }

  @Test
  void afterAPauseTheBurstStartsAtOnceAndThenTheRate() {
    apply(rated(5, 10));
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    assertThat(startsUntil(START + 59_999)).isEmpty();
    core.gates().open(GateKind.PAUSE, "a");
    now = START + 60_000;
    List<Long> starts = startsUntil(START + 60_500);
    assertThat(starts.subList(0, 10)).containsOnly(60_000L);
    assertThat(starts.subList(10, starts.size())).containsExactly(60_200L, 60_400L);
  }

  @Test
  void timersTickAtTenMillisecondsWithoutLosingAToken() {
    apply(rated(3, 3));
    // A token each 333 1/3 ms: at 333.4, 666.7, 1000, ..., rounded up to the tick.
    assertThat(startsUntil(START + 2000)).containsExactly(340L, 670L, 1000L, 1340L, 1670L, 2000L);
  }

  @Test
  void fastRatesComeInBundlesOfATick() {
    apply(rated(1000, 1000));
    assertThat(startsUntil(START + 20)).containsOnly(10L, 20L).hasSize(20);
  }

  @Test
  void neverMoreThanBurstAndRateInAnyWindow() {
    apply(rated(7, 4));
    List<Long> starts = new ArrayList<>();
    long[] steps = {3, 17, 950, 1, 140, 2500, 9, 61};
    for (int i = 0; i < 250; i++) {
      now += steps[i % steps.length];
      for (int n = round(); n > 0; n--) {
        starts.add(now);
      }
    }
    assertThat(starts.size()).isGreaterThan(100);
    for (int i = 0; i < starts.size(); i++) {
      for (int j = i; j < starts.size(); j++) {
        long millis = starts.get(j) - starts.get(i);
        assertThat((j - i + 1 - 4) * 1000L).isLessThanOrEqualTo(7 * millis);
      }
    }
  }

  @Test
  void nothingDriftsOverAMonth() {
    apply(rated(0.00015, 1));
    long month = 30L * 24 * 3_600_000;
    int starts = startsUntil(START + month).size();
    assertThat(starts).isEqualTo(388);
  }

  @Test
  void aClockThatJumpsBackNeitherGivesTokensNorTakesTheWait() {
    apply(rated(1, 2));
    assertThat(startsUntil(START + 1000)).hasSize(1);
    now = START - 3_600_000;
    assertThat(round()).isZero();
    long until = explain().reasons().get(0).untilMillis();
    assertThat(until).isBetween(now + 990, now + 1000).isEqualTo(core.nextTimerMillis());
    now = until - 10;
    assertThat(round()).isZero();
    now = until;
    assertThat(round()).isEqualTo(1);
  }

  @Test
  void retriesAndStartsThatCameToNothingCost() {
    apply(rated(1, 1));
    now += 1000;
    assertThat(round()).isEqualTo(1);
    core.finish(runs.get(0), null);
    assertThat(round()).isZero();
    now += 1000;
    assertThat(round()).isEqualTo(1);
  }

  @Test
  void explainSaysWhenTheNextTokenComes() {
    apply(rated(2, 1));
    Explanation.Reason reason = explain().reasons().get(0);
    assertThat(reason.kind()).isEqualTo(Kind.START_RATE);
    assertThat(reason.node()).isNull();
    assertThat(reason.untilMillis()).isEqualTo(START + 500).isEqualTo(core.nextTimerMillis());
    now = START + 500;
    core.advance(now, 10);
    assertThat(explain().startable()).isTrue();
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void tokensSurviveChangesOfRateAndOfNodesUpToTheNewBurst() {
    apply(rated(1, 10));
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    now += 8000;
    round();
    core.gates().open(GateKind.PAUSE, "a");
    apply(rated(0.5, 3));
    assertThat(round()).isEqualTo(3);
    now += 1000;
    // Half a token is there.
    apply(rated(0.001, 3));
    nodes[0] = "another";
    apply();
    assertThat(explain().reasons().get(0).untilMillis()).isEqualTo(now + 500_000);
    apply(rated(5, 3));
    assertThat(explain().reasons().get(0).untilMillis()).isEqualTo(now + 100);
    apply(job());
    assertThat(explain().startable()).isTrue();
    // What had no rate begins with nothing.
    apply(rated(5, 3));
    assertThat(explain().reasons().get(0).untilMillis()).isEqualTo(now + 200);
  }

  @Test
  void aChangeOfNodesBringsNoTokenBeforeItsTick() {
    apply(rated(3, 3));
    // The token is there after 333 1/3 ms, but timers tick each 10 ms, in this world and the next.
    now = START + 335;
    assertThat(round()).isZero();
    nodes[0] = "another";
    apply();
    assertThat(explain().reasons())
        .extracting(Explanation.Reason::kind)
        .containsExactly(Kind.START_RATE);
    assertThat(round()).isZero();
    now = START + 340;
    assertThat(round()).isEqualTo(1);
  }

  @Test
  void aChangeOfNodesKeepsWhatRunsAndWhatIsLeftOfTheTokens() {
    apply(rated(1, 5).maxConcurrent(4));
    now += 5_000;
    round();
    assertThat(runs).hasSize(4);
    nodes[0] = "another";
    apply();
    assertThat(round()).isZero();
    assertThat(explain().reasons())
        .extracting(Explanation.Reason::kind)
        .containsExactly(Kind.MAX_CONCURRENT);
    core.finish(runs.get(0), null);
    core.finish(runs.get(1), null);
    // One token was left.
    assertThat(round()).isEqualTo(1);
    assertThat(explain().reasons())
        .extracting(Explanation.Reason::kind)
        .containsExactly(Kind.START_RATE);
  }
}
