package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a worker does when its lease ends. */
class WorkerLeaseTest extends WorkerProtocolFixture {
  @Test
  void theLeaseCountsFromTheSendingOfTheHeartbeatThatWasAnswered() {
    side.cleared(List.of(), now());
    step();
    long sent = now;
    now += 4_000;
    hears(Verdict.ACCEPTED);
    starts(launch("a"));
    now = sent + TIMERS.stopAfterMillis() - 1;
    assertThat(done).contains("guard " + (sent - 5_000_000 + TIMERS.guardAfterMillis()));
    step();
    assertThat(done).doesNotContain("stop all");
    now = sent + TIMERS.stopAfterMillis();
    step();

    assertThat(done).contains("stop all");
  }

  @Test
  void aSuspendedHostAndAWallClockThatJumpsAgeTheLeaseToo() {
    registered();
    starts(launch("a"));
    wall += TIMERS.stopAfterMillis();
    step();

    assertThat(done).contains("stop all");
  }

  @Test
  void withAnOldLeaseNothingStartsEvenBeforeItIsNoticed() {
    registered();
    now += TIMERS.stopAfterMillis();

    WorkResponse answer = starts(launch("a"));
    assertThat(answer.starts().get(0).accepted()).isFalse();
    assertThat(started).isEmpty();
  }

  @Test
  void itRegistersAnewOnlyWhenTheLastTaskIsVerifiedDead() {
    registered();
    LaunchSpec a = launch("a");
    LaunchSpec b = launch("b");
    starts(a, b);
    side.heartbeatFailed(-1, now());
    after(TIMERS.heartbeatMillis());
    now += TIMERS.leaseMillis();
    side.heartbeatFailed(lastHeartbeat().number(), now());
    step();
    ends(a, Kind.KILLED);
    int sent = heartbeats.size();
    after(TIMERS.leaseMillis());
    assertThat(heartbeats.subList(sent, heartbeats.size())).noneMatch(h -> h.session() == 0);
    side.heartbeatFailed(lastHeartbeat().number(), now());
    ends(b, Kind.KILLED);

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().runs()).isEmpty();
    assertThat(reports.get(0).ends().get(0).stopReason()).isEqualTo(StopReason.LEASE_LOST);
  }

  @Test
  void toldToStopAllItStopsAndRegistersAnew() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.STOP_ALL);
    assertThat(done).contains("stop all");
    int sent = heartbeats.size();
    after(TIMERS.heartbeatMillis());
    assertThat(heartbeats).hasSize(sent);
    ends(a, Kind.KILLED);

    assertThat(lastHeartbeat().session()).isZero();
  }
}
