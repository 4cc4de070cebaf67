package io.espalier.server.app.ownership;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.ClockReading;
import org.junit.jupiter.api.Test;

class LeadershipLeaseTest {
  private static final long SESSION = 10_000;
  private static final long HOLDS = SESSION - 2_000;

  private long monotonic = 5_000_000;
  private long uptime = 9_000_000;
  private long wall = 1_700_000_000_000L;
  private final LeadershipLease validity =
      new LeadershipLease(() -> monotonic, () -> uptime, () -> wall);

  private void pass(long millis) {
    monotonic += millis;
    uptime += millis;
    wall += millis;
  }

  @Test
  void nothingIsCertainBeforeTheFirstProof() {
    assertThat(validity.remainingMillis()).isZero();
  }

  @Test
  void aProofCountsFromBeforeItWasAskedFor() {
    ClockReading asked = validity.now();
    pass(3_000);
    validity.proven(asked, SESSION);
    assertThat(validity.remainingMillis()).isEqualTo(HOLDS - 3_000);
  }

  @Test
  void aProofThatTookTooLongProvesNothing() {
    ClockReading asked = validity.now();
    pass(60_000);
    validity.proven(asked, SESSION);
    assertThat(validity.remainingMillis()).isNegative();
  }

  @Test
  void certaintyEndsByItself() {
    validity.proven(validity.now(), SESSION);
    pass(HOLDS - 1);
    assertThat(validity.remainingMillis()).isEqualTo(1);
    pass(1);
    assertThat(validity.remainingMillis()).isZero();
  }

  @Test
  void aFrozenMonotonicClockDoesNotProlongIt() {
    validity.proven(validity.now(), SESSION);
    wall += 60_000;
    assertThat(validity.remainingMillis()).isNegative();
  }

  @Test
  void aWallClockThatIsSetBackDoesNotProlongIt() {
    validity.proven(validity.now(), SESSION);
    monotonic += HOLDS;
    wall -= 3_600_000;
    assertThat(validity.remainingMillis()).isZero();
  }

  @Test
  void aSuspensionCountsAlsoWhenTheWallClockIsSetBackMeanwhile() {
    validity.proven(validity.now(), SESSION);
    uptime += 60_000;
    wall -= 3_600_000;
    assertThat(validity.remainingMillis()).isNegative();
  }

  @Test
  void withoutAnUptimeTheOtherTwoClocksCount() {
    LeadershipLease without = new LeadershipLease(() -> monotonic, () -> 0, () -> wall);
    without.proven(without.now(), SESSION);
    pass(HOLDS - 1);
    assertThat(without.remainingMillis()).isEqualTo(1);
    wall += 60_000;
    assertThat(without.remainingMillis()).isNegative();
  }

  @Test
  void theUptimeOfThisMachineCounts() {
    LeadershipLease here = LeadershipLease.ofSystemClocks();
    assertThat(here.now().uptimeMillis()).isPositive();
    here.proven(here.now(), SESSION);
    assertThat(here.remainingMillis()).isBetween(1L, HOLDS);
  }

  @Test
  void aJumpOfTheWallClockEndsItOnlyUntilTheNextProof() {
    validity.proven(validity.now(), SESSION);
    wall += 3_600_000;
    assertThat(validity.remainingMillis()).isNegative();
    validity.proven(validity.now(), SESSION);
    assertThat(validity.remainingMillis()).isEqualTo(HOLDS);
  }

  @Test
  void anEndIsAnEnd() {
    validity.proven(validity.now(), SESSION);
    validity.end();
    assertThat(validity.remainingMillis()).isZero();
  }

  @Test
  void theMarginIsAFifthOfTheSessionButTwoSecondsWhereTheSessionAllowsIt() {
    assertThat(LeadershipLease.marginMillis(30_000)).isEqualTo(6_000);
    assertThat(LeadershipLease.marginMillis(6_000)).isEqualTo(2_000);
    assertThat(LeadershipLease.marginMillis(2_000)).isEqualTo(1_000);
  }

  @Test
  void aProofThatComesAfterTheEndProvesNothing() {
    ClockReading asked = validity.now();
    validity.end();
    validity.proven(asked, SESSION);
    assertThat(validity.remainingMillis()).isZero();
    pass(1);
    validity.proven(validity.now(), SESSION);
    assertThat(validity.remainingMillis()).isZero();
  }
}
