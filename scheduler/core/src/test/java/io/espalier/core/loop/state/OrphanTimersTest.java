package io.espalier.core.loop.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Invocation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Kill timers of orphans (docs/design/bistro.md#orphans), and S10 of
 * docs/design/bistro.md#conformance-of-scheduling.
 */
class OrphanTimersTest {
  private static final KillRequest TERM = new KillRequest(KillRequest.Method.TERM, 0);

  private final OrphanTimers timers = new OrphanTimers();

  @Test
  void s10AnOrphanWithoutDelayIsKilledAtOnceAndAgainOnlyAfterAPause() {
    assertThat(killsAt(2_000, orphan(0L))).hasSize(1);
    assertThat(killsAt(2_500, orphan(0L))).isEmpty();
    assertThat(killsAt(3_000, orphan(0L))).hasSize(1);
  }

  @Test
  void s10TheDelayCountsFromTheFirstSighting() {
    assertThat(killsAt(2_000, orphan(1_000L))).isEmpty();
    assertThat(killsAt(2_999, orphan(1_000L))).isEmpty();
    assertThat(killsAt(3_000, orphan(1_000L))).hasSize(1);
  }

  @Test
  void s10WithoutADelayNothingIsEverKilled() {
    assertThat(killsAt(2_000, orphan(null))).isEmpty();
    assertThat(killsAt(Long.MAX_VALUE / 2, orphan(null))).isEmpty();
    assertThat(timers.nextMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void s10AJobThatCameBackStartsAnewWhenItLeavesAgain() {
    killsAt(2_000, orphan(1_000L));
    timers.begin();
    timers.end();
    assertThat(killsAt(3_000, orphan(1_000L))).isEmpty();
    assertThat(killsAt(4_000, orphan(1_000L))).hasSize(1);
  }

  @Test
  void aStubbornOrphanGetsKillFromTheThirdSignalOnAndRarerSignals() {
    List<KillRequest.Method> methods = new ArrayList<>();
    List<Long> times = new ArrayList<>();
    for (long now = 0; now < 40_000; now += 100) {
      for (OrphanTimers.Kill kill : killsAt(now, orphan(0L))) {
        methods.add(kill.how().method());
        times.add(now);
      }
    }
    assertThat(methods.subList(0, 4))
        .containsExactly(
            KillRequest.Method.TERM,
            KillRequest.Method.TERM,
            KillRequest.Method.KILL,
            KillRequest.Method.KILL);
    assertThat(times).startsWith(0L, 1_000L, 3_000L, 7_000L, 15_000L);
  }

  @Test
  void aLookThatIsGivenUpForgetsNoSignal() {
    timers.begin();
    assertThat(timers.look(orphan(0L), 2_000)).isNotNull();
    timers.giveUp();
    assertThat(killsAt(2_500, orphan(0L))).isEmpty();
    assertThat(killsAt(3_000, orphan(0L))).hasSize(1);
  }

  private List<OrphanTimers.Kill> killsAt(long now, OrphanTimers.Orphan orphan) {
    timers.begin();
    OrphanTimers.Kill kill = timers.look(orphan, now);
    timers.end();
    return kill == null ? List.of() : List.of(kill);
  }

  private static OrphanTimers.Orphan orphan(@Nullable Long delayMillis) {
    return new OrphanTimers.Orphan(
        "job",
        "node",
        new Invocation(1, 7, 1_000),
        Optional.ofNullable(delayMillis).map(Duration::ofMillis),
        TERM);
  }
}
