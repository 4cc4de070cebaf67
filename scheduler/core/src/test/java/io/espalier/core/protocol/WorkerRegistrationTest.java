package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How a worker registers, and which schedulers it heeds. W numbers: docs/workers-conformance.md.
 */
class WorkerRegistrationTest extends WorkerProtocolFixture {
  @Test
  void itDoesNotRegisterBeforeTheTasksOfEarlierProcessesAreVerifiedDead() {
    step();
    after(60_000);
    assertThat(heartbeats).isEmpty();
    assertThat(side.state()).contains("verifies");
    side.cleared(List.of(3L, 4L), now());
    step();

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().cleared()).containsExactly(3L, 4L);
  }

  @Test
  void aLostConnectionMakesTheNextHeartbeatComeSoonButNoRetryOfAFailedOne() {
    registered();
    int before = heartbeats.size();
    side.connectionLost(now());
    step();
    assertThat(heartbeats).hasSize(before);
    after(999);
    assertThat(heartbeats).hasSize(before + 1);

    side.heartbeatFailed(lastHeartbeat().number(), now());
    side.connectionLost(now());
    after(TIMERS.reportFirstMillis() / 2 - 1);
    assertThat(heartbeats).hasSize(before + 1);
    after(TIMERS.reportFirstMillis() / 2 + 1);
    assertThat(heartbeats).hasSize(before + 2);
  }

  @Test
  void aConnectionLostBeforeAHeartbeatIsAcceptedMakesTheNextOneComeSoon() {
    registered();
    after(TIMERS.heartbeatMillis());
    int before = heartbeats.size();
    side.connectionLost(now());
    hears(Verdict.ACCEPTED);
    after(999);

    assertThat(heartbeats).hasSize(before + 1);
  }

  @Test
  void workersWhoseHeartbeatsFailTogetherComeBackOneAfterTheOther() {
    TreeMap<Long, Integer> back = new TreeMap<>();
    for (int i = 0; i < 1_000; i++) {
      WorkerProtocol worker =
          new WorkerProtocol(new WorkerRef("w" + i, 7_919L * i), facts(3), this);
      worker.cleared(List.of(), now());
      long unused = worker.step(now());
      worker.heartbeatFailed(lastHeartbeat().number(), now());
      back.merge(worker.step(now()), 1, Integer::sum);
    }

    assertThat(back.firstKey()).isGreaterThanOrEqualTo(TIMERS.reportFirstMillis() / 2);
    assertThat(back.lastKey()).isLessThanOrEqualTo(TIMERS.reportFirstMillis());
    assertThat(back).as("the pauses of 1,000 workers").hasSizeGreaterThan(300);
    assertThat(back.values()).as("workers at one instant").allMatch(together -> together < 15);
  }

  @Test
  void w25ARefusedWorkerTriesAgainAndSaysWhyOnce() {
    side.cleared(List.of(), now());
    step();
    hears(Verdict.REFUSED);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REFUSED);

    assertThat(heartbeats).hasSize(2);
    assertThat(done).containsExactly("warn not registered: because");
    assertThat(starts(launch("a")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    assertThat(side.state()).isEmpty();
  }

  @Test
  void unfitTimersAreNotAccepted() {
    side.cleared(List.of(), now());
    step();
    Map<String, Long> values = new HashMap<>(TIMERS.values());
    values.put("margin", 1L);
    side.heartbeatAnswered(answer(Verdict.ACCEPTED, ProtocolTimers.of(values)), now());

    assertThat(starts(launch("a")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    assertThat(done).singleElement().asString().contains("unfit", "margin");
  }

  @Test
  void askingForANewSessionGivesUpTheOldOneAtOnce() {
    registered();
    starts(launch("a"));
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().runs()).hasSize(1);
    assertThat(starts(launch("b")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    assertThat(done).doesNotContain("stop all");
    session = 78;
    hears(Verdict.ACCEPTED);
    assertThat(starts(launch("b")).starts().get(0).accepted()).isTrue();
  }

  @Test
  void anOlderLeaderIsNotHeeded() {
    registered();
    LaunchSpec task = launch("a");
    starts(task);
    epoch = 9;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);
    session = 90;
    hears(Verdict.ACCEPTED);
    epoch = 4;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.STOP_ALL);

    assertThat(done).doesNotContain("stop all");
    session = 77;
    assertThat(starts(launch("b")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
  }

  @Test
  void itSaysWhichStoreItServesAndHeedsNoSchedulerOfAnother() {
    storeId = "ours";
    registered();
    step();
    after(TIMERS.heartbeatMillis());
    assertThat(lastHeartbeat().storeId()).isEqualTo("ours");

    storeId = "theirs";
    epoch += 10;
    for (Verdict verdict : List.of(Verdict.ACCEPTED, Verdict.STOP_ALL, Verdict.REGISTER_AGAIN)) {
      hears(verdict);
      after(8_000);
    }

    assertThat(side.session()).isNotZero();
    assertThat(side.epoch()).isEqualTo(epoch - 10);
    assertThat(lastHeartbeat().storeId()).isEqualTo("ours");
  }

  /**
   * An epoch means nothing without its store: a worker that was refused by the scheduler of a store
   * that is lost since must be able to show which store that was.
   */
  @ParameterizedTest
  @EnumSource(
      value = Verdict.class,
      names = {"REFUSED", "STOP_ALL", "REGISTER_AGAIN"})
  void aWorkerKnowsTheStoreOfEachEpochThatItHasHeardOf(Verdict verdict) {
    side.cleared(List.of(), now());
    step();
    storeId = "ours";
    hears(verdict);
    after(TIMERS.heartbeatMillis());

    assertThat(lastHeartbeat().epoch()).isEqualTo(epoch);
    assertThat(lastHeartbeat().storeId()).isEqualTo("ours");
  }
}
