package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.Severity;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.outcome.JobStateRecord.Start;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The contract for what a store keeps of operators, jobs and queues. */
abstract class OperatorTablesContract extends AttemptsContract {
  @Test
  void pauses_are_kept_until_they_are_ended() throws Exception {
    Pause first = new Pause("a", "ann", "disk full on r1", NOW, 0);
    Pause second = new Pause("b", "", "", NOW, NOW + 60_000);
    store.commit(epoch, StoreTransaction.builder().pause(first).pause(second).build());
    restartAfterKill();
    assertThat(store.pauses()).containsExactlyInAnyOrder(first, second);
    Pause changed = new Pause("a", "bob", "still full", NOW + 1, 0);
    store.commit(
        epoch, StoreTransaction.builder().resume("b").resume("never was").pause(changed).build());
    restartAfterKill();
    assertThat(store.pauses()).containsExactly(changed);
  }

  @Test
  void states_of_jobs_are_kept_until_the_job_is_forgotten() throws Exception {
    JobStateRecord first =
        new JobStateRecord(
            "a", JobState.FAILED, "6 of 53", NOW, "6 of 53", true, true, new Start(6, 53, NOW));
    JobStateRecord second =
        new JobStateRecord("b".repeat(239), JobState.RUNNING, "", NOW, "", false, false, Start.ALL);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .put(row("a", "n", failed()))
            .jobState(first)
            .jobState(second)
            .append(event(1))
            .build());
    restartAfterKill();
    assertThat(store.jobStates()).containsExactlyInAnyOrder(first, second);
    JobStateRecord changed =
        new JobStateRecord("a", JobState.RUNNING, "", NOW + 1, "", false, false, Start.ALL);
    store.commit(
        epoch,
        StoreTransaction.builder().jobState(first).jobState(changed).forget(second.job()).build());
    restartAfterKill();
    assertThat(store.jobStates()).containsExactly(changed);
    store.commit(
        epoch, StoreTransaction.builder().jobState(first).forget("a").jobState(second).build());
    restartAfterKill();
    assertThat(store.jobStates()).containsExactly(second);
  }

  @Test
  void notifications_are_kept_in_the_order_of_their_events_until_they_are_sent() throws Exception {
    Notification late = notification("ops", 9, 1);
    Notification early = notification("ops", 2, 1);
    Notification other = notification("pager", 2, 1);
    store.commit(
        epoch,
        StoreTransaction.builder().notification(late).notification(other).append(event(1)).build());
    store.commit(epoch, StoreTransaction.builder().notification(early).build());
    restartAfterKill();
    assertThat(store.notifications()).containsExactlyInAnyOrder(early, other, late);
    assertThat(store.notifications().get(2)).isEqualTo(late);
    Notification merged = notification("ops", 9, 7);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .endNotification(early.key())
            .endNotification(new Notification.Key("never", 1))
            .notification(merged)
            .build());
    restartAfterKill();
    assertThat(store.notifications()).containsExactlyInAnyOrder(other, merged);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .notification(early)
            .endNotification(early.key())
            .endNotification(other.key())
            .build());
    restartAfterKill();
    assertThat(store.notifications()).containsExactly(merged);
  }

  private static Notification notification(String notifier, long sequence, int count) {
    return new Notification(
        notifier,
        sequence,
        "3." + sequence,
        "job_state",
        Severity.ERROR,
        "job:j\u00e4",
        "job j is failed \ud83d\udd25",
        NOW,
        count,
        Json.object().put("job", "j").put("owner", "ann").build(),
        Json.object().put("job", "j").put("to", "failed").build());
  }

  @Test
  void overrides_of_limits_are_kept_until_they_are_ended() throws Exception {
    LimitOverride level = new LimitOverride("host", "slots", "", 3, "ann", "disk full", NOW, 0);
    LimitOverride node =
        new LimitOverride("host", "slots", "n".repeat(300), 0, "", "", NOW, NOW + 60_000);
    LimitOverride other = new LimitOverride("rack", "slots", "n1", 7, "", "", NOW, 0);
    store.commit(epoch, StoreTransaction.builder().limit(level).limit(node).limit(other).build());
    restartAfterKill();
    assertThat(store.limits()).containsExactlyInAnyOrder(level, node, other);
    LimitOverride changed = new LimitOverride("host", "slots", "", 9, "bob", "", NOW + 1, 0);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .endLimit(node.key())
            .endLimit(new LimitOverride.Key("never", "was", ""))
            .limit(changed)
            .build());
    restartAfterKill();
    assertThat(store.limits()).containsExactlyInAnyOrder(changed, other);
  }

  @Test
  void rollouts_are_kept_until_they_are_ended() throws Exception {
    Json.Obj first = Json.object().put("stage", 1).put("reason", "no \"net\"").build();
    Json.Obj members = Json.object().put("members", "0:" + "z,".repeat(100_000) + "1").build();
    RolloutRow state = new RolloutRow("a", 0, first);
    RolloutRow part = new RolloutRow("a", 1, members);
    RolloutRow other = new RolloutRow("j".repeat(300), 0, first);
    store.commit(
        epoch, StoreTransaction.builder().rollout(state).rollout(part).rollout(other).build());
    restartAfterKill();
    assertThat(store.rollouts()).containsExactlyInAnyOrder(state, part, other);
    RolloutRow later = new RolloutRow("a", 0, Json.object().put("stage", 2).build());
    store.commit(epoch, StoreTransaction.builder().rollout(later).build());
    assertThat(store.rollouts()).containsExactlyInAnyOrder(later, part, other);
    // What is put after the end belongs to the next roll-out of the job.
    store.commit(
        epoch, StoreTransaction.builder().rollout(part).endRollout("a").rollout(state).build());
    assertThat(store.rollouts()).containsExactlyInAnyOrder(state, other);
    store.commit(epoch, StoreTransaction.builder().forget("a").build());
    restartAfterKill();
    assertThat(store.rollouts()).containsExactly(other);
  }

  @Test
  void brakes_are_kept_until_they_are_ended() throws Exception {
    Brake all =
        Brake.of(Brake.Key.all(), 0).author("ann").reason("no \"net\"").sinceMillis(NOW).build();
    Brake.Key queue = new Brake.Key(Brake.Target.QUEUE, "", "q".repeat(300));
    Brake share =
        Brake.of(queue, 250_000)
            .bases(Map.of(queue.name(), 7))
            .ramp(new Brake.Ramp(100_000, 60_000))
            .sinceMillis(NOW)
            .untilMillis(NOW + 60_000)
            .releasedMillis(NOW + 1)
            .build();
    Brake node =
        Brake.of(new Brake.Key(Brake.Target.NODE, "rack", "r1"), 1)
            .sinceMillis(NOW)
            .build()
            .withThrottlesRunning(true);
    store.commit(epoch, StoreTransaction.builder().brake(all).brake(share).brake(node).build());
    restartAfterKill();
    assertThat(store.brakes()).containsExactlyInAnyOrder(all, share, node);
    Brake changed = Brake.of(Brake.Key.all(), 1).author("bob").sinceMillis(NOW + 1).build();
    store.commit(
        epoch,
        StoreTransaction.builder()
            .endBrake(queue)
            .endBrake(new Brake.Key(Brake.Target.NODE, "host", "r1"))
            .brake(changed)
            .build());
    restartAfterKill();
    assertThat(store.brakes()).containsExactlyInAnyOrder(changed, node);
  }

  @Test
  void quarantines_are_kept_until_they_are_lifted() throws Exception {
    Quarantine.Key ofJob = new Quarantine.Key("host", "db-17", "j".repeat(300));
    Quarantine found = Quarantine.found(ofJob, "94 % \"fail\"", NOW).tried(NOW + 5);
    Quarantine.Key ofAll = new Quarantine.Key("host", "db-17", "");
    Quarantine ordered = Quarantine.ordered(ofAll, "ann", "", NOW);
    store.commit(epoch, StoreTransaction.builder().quarantine(found).quarantine(ordered).build());
    restartAfterKill();
    assertThat(store.quarantines()).containsExactlyInAnyOrder(found, ordered);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .endQuarantine(ofAll)
            .endQuarantine(new Quarantine.Key("rack", "db-17", ""))
            .quarantine(found.tried(NOW + 6))
            .build());
    restartAfterKill();
    assertThat(store.quarantines()).containsExactly(found.tried(NOW + 6));
  }

  @Test
  void answers_are_kept_until_they_are_ended() throws Exception {
    KeyedAnswer begun = new KeyedAnswer("a".repeat(64), NOW, Json.object().build());
    KeyedAnswer other =
        new KeyedAnswer(
            "b", NOW + 1, Json.object().put("text", "\u00e4\ud83d\udd25".repeat(30_000)).build());
    store.commit(epoch, StoreTransaction.builder().answer(begun).answer(other).build());
    restartAfterKill();
    assertThat(store.answers()).containsExactlyInAnyOrder(begun, other);
    KeyedAnswer answered =
        new KeyedAnswer(begun.key(), NOW, Json.object().put("status", 200).build());
    store.commit(
        epoch,
        StoreTransaction.builder().endAnswer("b").endAnswer("never").answer(answered).build());
    restartAfterKill();
    assertThat(store.answers()).containsExactly(answered);
  }

  @Test
  void what_queues_have_used_is_replaced_as_a_whole() throws Exception {
    assertThat(store.queueUsage()).isEmpty();
    QueueUsage etl = new QueueUsage("etl", 0.1, NOW);
    QueueUsage web = new QueueUsage("w".repeat(200), 1.0 / 3, NOW);
    store.commit(epoch, StoreTransaction.builder().queueUsage(List.of(etl, web)).build());
    restartAfterKill();
    assertThat(store.queueUsage()).containsExactlyInAnyOrder(etl, web);
    store.commit(epoch, StoreTransaction.builder().pause(new Pause("a", "", "", NOW, 0)).build());
    assertThat(store.queueUsage()).as("left alone").hasSize(2);
    QueueUsage later = new QueueUsage("etl", 0.2, NOW + 10_000);
    store.commit(epoch, StoreTransaction.builder().queueUsage(List.of(later)).build());
    restartAfterKill();
    assertThat(store.queueUsage()).containsExactly(later);
  }

  @Test
  void durations_are_kept_until_their_job_is_forgotten() throws Exception {
    assertThat(store.durations()).isEmpty();
    JobDurations first = new JobDurations("a", "40 3 41 17", "");
    JobDurations other = new JobDurations("j".repeat(300), "", "100 1");
    store.commit(epoch, StoreTransaction.builder().durations(first).durations(other).build());
    restartAfterKill();
    assertThat(store.durations()).containsExactlyInAnyOrder(first, other);
    JobDurations later = new JobDurations("a", "40 3 41 18", "7 1");
    store.commit(epoch, StoreTransaction.builder().durations(later).build());
    restartAfterKill();
    assertThat(store.durations()).containsExactlyInAnyOrder(later, other);
    store.commit(epoch, StoreTransaction.builder().durations(later).forget("a").build());
    restartAfterKill();
    assertThat(store.durations()).containsExactly(other);
  }

  @Test
  void holds_of_workers_are_kept_until_they_are_released() throws Exception {
    WorkerCordon first = new WorkerCordon("w1", WorkerCordon.Kind.DRAIN, "ann", "new kernel", NOW);
    WorkerCordon second = new WorkerCordon("w2", WorkerCordon.Kind.CORDON, "", "", NOW);
    store.commit(epoch, StoreTransaction.builder().cordon(first).cordon(second).build());
    restartAfterKill();
    assertThat(store.cordons()).containsExactlyInAnyOrder(first, second);
    WorkerCordon changed = new WorkerCordon("w1", WorkerCordon.Kind.CORDON, "bob", "", NOW + 1);
    store.commit(
        epoch,
        StoreTransaction.builder().uncordon("w2").uncordon("never was").cordon(changed).build());
    restartAfterKill();
    assertThat(store.cordons()).containsExactly(changed);
  }

  @Test
  void absences_are_those_that_were_kept_last_and_only_of_jobs_with_rows() throws Exception {
    String longName = "b".repeat(239);
    store.commit(
        epoch, StoreTransaction.of(List.of(row("a", "n", failed()), row(longName, "n", failed()))));
    assertThat(store.absences()).isEmpty();
    store.keepAbsences(epoch, Map.of("a", NOW, longName, NOW + 1, "never was", NOW));
    restartAfterKill();
    if (!store.jobs().isEmpty()) {
      assertThat(store.absences()).isEqualTo(Map.of("a", NOW, longName, NOW + 1));
    }
    store.keepAbsences(epoch, Map.of("a", NOW));
    store.commit(epoch, StoreTransaction.builder().forget("a").build());
    assertThat(store.absences()).isEmpty();
    assertThatThrownBy(() -> store.keepAbsences(epoch - 1, Map.of()))
        .isInstanceOf(StaleEpochException.class);
  }

  @Test
  void rows_are_read_in_pages_without_a_gap() throws Exception {
    List<StatusRow> rows = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      // Names that are too long for the index of a database, too.
      rows.add(row("j", (i % 2 == 0 ? "n" : "n".repeat(300)) + i, failed()));
    }
    store.commit(epoch, StoreTransaction.of(rows));
    store.commit(epoch, StoreTransaction.of(List.of(row("k", "n0", failed()))));
    List<StatusRow> read = new ArrayList<>();
    List<StatusRow> page = store.load("j", "", 10);
    while (!page.isEmpty()) {
      assertThat(page).hasSizeLessThanOrEqualTo(10);
      read.addAll(page);
      page = store.load("j", page.get(page.size() - 1).node(), 10);
    }
    assertThat(read).containsExactlyInAnyOrderElementsOf(rows);
    assertThat(store.load("unknown", "", 10)).isEmpty();
  }

  @Test
  void the_incarnation_of_a_job_is_kept_until_it_is_forgotten() throws Exception {
    assertThat(store.incarnations()).isEmpty();
    store.commit(
        epoch,
        StoreTransaction.builder()
            .put(row("j", "n", failed()))
            .put(row("k", "n", failed()))
            .incarnation("j", 1_700_000_000)
            .incarnation("no rows yet", 5)
            .build());
    restartAfterKill();
    assertThat(store.incarnations())
        .containsOnly(Map.entry("j", 1_700_000_000L), Map.entry("no rows yet", 5L));
    assertThat(store.jobs()).containsExactlyInAnyOrder("j", "k");
    store.commit(epoch, StoreTransaction.builder().forget("j").incarnation("j", 7).build());
    store.commit(epoch, StoreTransaction.builder().forget("no rows yet").build());
    restartAfterKill();
    assertThat(store.incarnations()).containsOnly(Map.entry("j", 7L));
    assertThat(rows("j")).isEmpty();
  }
}
