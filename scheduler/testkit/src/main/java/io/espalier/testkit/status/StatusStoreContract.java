package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.outcome.JobStateRecord.Start;
import io.espalier.core.running.Call;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every status store. Extend it and implement {@link #open}. */
public abstract class StatusStoreContract extends AttemptsContract {
  private static final long NOW = 1_790_000_000_000L;
  private static final Backoff LADDER = new Backoff(List.of(1, 2, 4), false);

  private static final int FLAGS =
      TaskStatus.USES_BACKOFF
          | TaskStatus.DOES_NOT_ADVANCE_BACKOFF
          | TaskStatus.OVERWRITEABLE
          | TaskStatus.HAS_SAVED_BACKOFF;

  private static final List<Main> STORED =
      List.of(Main.RUNNING, Main.DONE, Main.INCOMPLETE, Main.FAILED, Main.ERROR);

  private final List<StatusStore> opened = new ArrayList<>();

  // Set before each test.
  @SuppressWarnings("NullAway.Init")
  private StatusStore store;

  private long epoch;

  /**
   * Opens the one storage of this test. A call while an earlier store is still open simulates a
   * process that died without closing anything; a store that cannot survive that may return the
   * same object.
   */
  protected abstract StatusStore open() throws Exception;

  @BeforeEach
  final void openStore() throws Exception {
    store = remembered(open());
    Taken taken = store.openEpoch(TakeOver.PLAIN);
    assertThat(taken.first()).isTrue();
    assertThat(taken.earlierLeaseMillis()).isZero();
    epoch = taken.epoch();
  }

  @AfterEach
  final void closeStores() {
    opened.forEach(StatusStore::close);
  }

  private StatusStore remembered(StatusStore fresh) {
    opened.add(fresh);
    return fresh;
  }

  @Override
  final StatusStore store() {
    return store;
  }

  @Override
  final long epoch() {
    return epoch;
  }

  /** Restarts the store as after kill -9: nothing was closed. */
  @Override
  final void restartAfterKill() throws Exception {
    store = remembered(open());
    epoch = store.openEpoch(TakeOver.PLAIN).epoch();
  }

  @Test
  void t1_an_unknown_job_has_nothing_and_done_and_failed_are_kept() throws Exception {
    assertThat(rows("unknown")).isEmpty();
    assertThat(store.jobs()).isEmpty();
    StatusRow done = row("job", "a", status(Main.DONE, 1));
    StatusRow failed = row("job", "b", status(Main.FAILED, 7));
    store.commit(epoch, StoreTransaction.of(List.of(done, failed)));
    restartAfterKill();
    assertThat(rows("job")).containsExactlyInAnyOrder(done, failed);
    assertThat(rows("unknown")).isEmpty();
    assertThat(store.jobs()).containsExactly("job");
  }

  @Test
  void what_is_remembered_of_nodes_is_the_latest_and_only_the_leader_writes_it() throws Exception {
    assertThat(store.nodesSketch()).isEmpty();
    store.keepNodesSketch(epoch, "one");
    String long_one = "[\"\u00e4 \ud83d\ude80\"]".repeat(20_000);
    store.keepNodesSketch(epoch, long_one);
    assertThat(store.nodesSketch()).isEqualTo(long_one);
    long old = epoch;
    restartAfterKill();
    assertThatThrownBy(() -> store.keepNodesSketch(old, "late"))
        .isInstanceOf(StaleEpochException.class);
    assertThat(store.nodesSketch()).isIn(long_one, "");
  }

  @Test
  void the_key_of_callbacks_is_random_and_stays() throws Exception {
    String key = store.callbackKey(epoch);
    assertThat(key).hasSizeGreaterThan(30);
    assertThat(store.callbackKey(epoch)).isEqualTo(key);
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(new StatusRow("job", "a", status(Main.DONE, 1), new Invocation(1, 1, 1)))));
    long old = epoch;
    restartAfterKill();
    assertThatThrownBy(() -> store.callbackKey(old)).isInstanceOf(StaleEpochException.class);
    if (!store.jobs().isEmpty()) {
      assertThat(store.callbackKey(epoch)).isEqualTo(key);
    }
  }

  @Test
  void the_rows_of_running_tasks_are_found_whichever_their_job_and_with_their_worker()
      throws Exception {
    StatusRow remote =
        new StatusRow(
            "gone",
            "a",
            status(Main.RUNNING, 2),
            new Invocation(1, 7, NOW),
            new WorkerRef("w1", Long.MIN_VALUE + 5));
    StatusRow local = row("job", "b", status(Main.RUNNING, 1));
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(
                remote, local, row("job", "c", status(Main.DONE, 1)), row("x", "a", failed()))));
    restartAfterKill();
    assertThat(store.running()).containsExactlyInAnyOrder(remote, local);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void every_field_of_every_kind_of_status_survives(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    List<StatusRow> written = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      written.add(row("job" + i % 3, "node" + i, randomStatus(random)));
    }
    store.commit(epoch, StoreTransaction.of(written));
    restartAfterKill();
    List<StatusRow> found = new ArrayList<>();
    for (String job : store.jobs()) {
      found.addAll(rows(job));
    }
    assertThat(found).containsExactlyInAnyOrderElementsOf(written);
  }

  @Test
  void a_later_row_replaces_the_earlier_one() {
    store.commit(epoch, StoreTransaction.of(List.of(row("j", "n", status(Main.RUNNING, 1)))));
    StatusRow later = row("j", "n", status(Main.DONE, 1));
    store.commit(epoch, StoreTransaction.of(List.of(later)));
    assertThat(rows("j")).containsExactly(later);
  }

  @Test
  void t9_rows_stay_when_nobody_asks_for_them_and_go_when_their_job_is_forgotten()
      throws Exception {
    StatusRow kept = row("kept", "n", status(Main.DONE, 1));
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(kept, row("gone", "n", status(Main.DONE, 1)), row("gone", "m", failed()))));
    restartAfterKill();
    store.commit(epoch, StoreTransaction.builder().forget("gone").forget("never was").build());
    assertThat(store.jobs()).containsExactly("kept");
    restartAfterKill();
    assertThat(rows("kept")).containsExactly(kept);
    assertThat(rows("gone")).isEmpty();
  }

  @Test
  void t10_forgiveness_survives_a_restart() throws Exception {
    store.commit(epoch, StoreTransaction.of(List.of(row("j", "n", failed()))));
    restartAfterKill();
    StatusRow before = rows("j").get(0);
    TaskStatus forgiven =
        Objects.requireNonNull(
            TaskTransitions.apply(before.status(), new TaskEvent.Forgiven(), LADDER, NOW).status());
    store.commit(
        epoch,
        StoreTransaction.of(List.of(new StatusRow("j", "n", forgiven, before.invocation()))));
    restartAfterKill();
    TaskStatus after = rows("j").get(0).status();
    assertThat(after.main()).isEqualTo(Main.ERROR);
    assertThat(after.isWaiting(NOW)).isFalse();
    assertThat(after.position()).isZero();
  }

  @Test
  void theCallOfARunningTaskSurvivesARestart() throws Exception {
    Json.Obj data = Json.object().put("at", 7).build();
    TaskStatus running = TaskStatus.ofBits(Main.RUNNING.bit(), NOW, 0, 4, 9, data);
    Invocation invocation = new Invocation(3, 17, NOW);
    Call call =
        Call.of(
            new CallSpec("http", Json.object().put("url", "x").build(), true, Duration.ofDays(1)),
            "j",
            0,
            invocation,
            9,
            List.of("instance", "host"),
            List.of("i", "n"),
            new InvocationLimits(1, 2, 3));
    StatusRow row =
        new StatusRow("j", "n", running, invocation, WorkerRef.LOCAL, call, 17, Counters.NONE);
    store.commit(epoch, StoreTransaction.of(List.of(row)));
    restartAfterKill();
    assertThat(rows("j").get(0)).isEqualTo(row);
    assertThat(store.running()).containsExactly(row);
  }

  @Test
  void t10_position_expiry_attempts_and_data_survive_a_restart_in_the_middle_of_a_run()
      throws Exception {
    Json.Obj data = Json.object().put("at", 7).build();
    TaskStatus running = TaskStatus.ofBits(Main.RUNNING.bit(), NOW, 0, 4, 9, data);
    store.commit(
        epoch,
        StoreTransaction.of(List.of(new StatusRow("j", "n", running, new Invocation(3, 17, NOW)))));
    restartAfterKill();
    StatusRow found = rows("j").get(0);
    assertThat(found.invocation()).isEqualTo(new Invocation(3, 17, NOW));
    TaskStatus interrupted =
        Objects.requireNonNull(
            TaskTransitions.apply(found.status(), new TaskEvent.Interrupted("x"), LADDER, NOW)
                .status());
    assertThat(interrupted.position()).isEqualTo(4);
    assertThat(interrupted.attempts()).isEqualTo(9);
    assertThat(Objects.requireNonNull(interrupted.data()).get("at")).isEqualTo(Json.of(7));
  }

  @Test
  void a_checkpoint_survives_beside_the_data_and_without_it() throws Exception {
    Json.Obj data = Json.object().put("at", 7).build();
    Json.Obj checkpoint = Json.object().put("done", 60).put("cursor", "pk=\u00fc").build();
    TaskStatus both = TaskStatus.of(Main.RUNNING, NOW, 1).withData(data).withCheckpoint(checkpoint);
    TaskStatus alone = TaskStatus.waiting(NOW, 1, 1).withCheckpoint(checkpoint);
    store.commit(
        epoch, StoreTransaction.of(List.of(row("j", "both", both), row("j", "alone", alone))));
    restartAfterKill();
    assertThat(rows("j")).extracting(StatusRow::status).containsExactlyInAnyOrder(both, alone);
  }

  @Test
  void counts_of_retries_survive_with_data_and_without_it() throws Exception {
    TaskStatus running = TaskStatus.of(Main.RUNNING, NOW, 1);
    Json.Obj data = Json.object().put("at", 7).build();
    TaskStatus some = running.withRetries(new RetryCounts(2, 3, Integer.MAX_VALUE, false));
    TaskStatus gotOn = running.withRetries(new RetryCounts(0, 0, 0, true));
    TaskStatus error =
        TaskStatus.waiting(NOW, 90, 4).withData(data).withRetries(new RetryCounts(3, 3, 1, false));
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(row("j", "some", some), row("j", "on", gotOn), row("j", "e", error))));
    restartAfterKill();
    assertThat(rows("j"))
        .extracting(StatusRow::status)
        .containsExactlyInAnyOrder(some, gotOn, error);
  }

  @Test
  void one_batch_is_applied_in_its_order() {
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(row("j", "old", failed()), row("k", "a", failed()), row("k", "b", failed()))));
    StatusRow fresh = row("j", "new", status(Main.DONE, 1));
    StatusRow again = row("k", "a", status(Main.DONE, 2));
    store.commit(
        epoch,
        StoreTransaction.builder()
            .put(row("j", "x", failed()))
            .forget("j")
            .put(fresh)
            .delete("k", "a")
            .delete("k", "b")
            .delete("k", "never was")
            .put(again)
            .build());
    assertThat(rows("j")).containsExactly(fresh);
    assertThat(rows("k")).containsExactly(again);
  }

  @Test
  void what_a_scheduler_keeps_of_a_row_is_loaded() {
    List<StatusRow> written = new ArrayList<>();
    for (Main main : STORED) {
      written.add(row("j", main + " a", status(main, 1)));
      written.add(row("j", main + " b", status(main, 2)));
    }
    written.add(row("k", "other", failed()));
    store.commit(epoch, StoreTransaction.of(written));

    Map<String, StatusRow> kept = new HashMap<>();
    store.loadKept("j", row -> kept.put(row.node(), row));

    assertThat(kept).hasSize(2 * STORED.size());
    for (StatusRow row : written.subList(0, 2 * STORED.size())) {
      StatusRow loaded = Objects.requireNonNull(kept.get(row.node()));
      if (row.status().bits() == Main.DONE.bit()) {
        assertThat(loaded.job()).isEqualTo("j");
        assertThat(loaded.status().bits()).isEqualTo(row.status().bits());
        assertThat(loaded.status().sinceMillis()).isEqualTo(row.status().sinceMillis());
      } else {
        assertThat(loaded).isEqualTo(row);
      }
    }
  }

  @Test
  void only_the_nodes_that_were_asked_for_are_loaded() {
    StatusRow a = row("j", "a", failed());
    store.commit(
        epoch, StoreTransaction.of(List.of(a, row("j", "b", failed()), row("k", "c", failed()))));
    assertThat(store.load("j", List.of("a", "c", "unknown", "a"))).containsExactly(a);
    assertThat(store.load("j", List.of())).isEmpty();
    assertThat(store.load("unknown", List.of("a"))).isEmpty();
  }

  @Test
  void any_name_and_any_data_survives() throws Exception {
    List<String> names =
        List.of(
            "plain",
            "Plain",
            "plain ",
            "",
            "../../etc/passwd",
            "quote ' double \" percent % under _ semicolon ; --",
            "nul \0 inside",
            "nul \0 other",
            "line\nbreak\ttab\r",
            "häuser 主机 узел 😀",
            "e\u0301",
            "\u00e9",
            "long ".repeat(2_000));
    Json.Obj data =
        Json.object()
            .put("text", "häuser 主机 😀 \0 \u2028 \" \\ \n")
            .put("big", "x".repeat(1_000_000))
            .put("exact", Json.of(Long.MAX_VALUE))
            .put("nested", new Json.Arr(List.of(Json.Null.NULL, Json.of(true), Json.of(1.25))))
            .build();
    List<StatusRow> written = new ArrayList<>();
    for (String job : names) {
      for (String node : names) {
        written.add(row(job, node, failed()));
      }
    }
    written.add(row("with data", "n", TaskStatus.waiting(NOW, 1, 1).withData(data)));
    store.commit(epoch, StoreTransaction.of(written));
    restartAfterKill();
    List<StatusRow> found = new ArrayList<>();
    for (String job : store.jobs()) {
      found.addAll(rows(job));
    }
    assertThat(found).hasSameSizeAs(written);
    assertThat(found.containsAll(written)).isTrue();
  }

  @Test
  void twenty_thousand_rows_in_batches() throws Exception {
    Map<String, StatusRow> expected = new HashMap<>();
    SplittableRandom random = new SplittableRandom(7);
    for (int batch = 0; batch < 20; batch++) {
      StoreTransaction.Builder rows = StoreTransaction.builder();
      for (int i = 0; i < 1000; i++) {
        String node = "host" + random.nextInt(200) + ".db" + i % 100;
        StatusRow row = row("big", node, status(Main.DONE, batch));
        expected.put(node, row);
        rows.put(row);
      }
      store.commit(epoch, rows.build());
    }
    restartAfterKill();
    Map<String, StatusRow> found = new HashMap<>();
    store.load("big", row -> assertThat(found.put(row.node(), row)).isNull());
    assertThat(found.size()).isEqualTo(expected.size());
    assertThat(found.equals(expected)).isTrue();
  }

  @Test
  void epochs_grow_with_every_opening() throws Exception {
    long first = epoch;
    assertThat(first).isPositive();
    restartAfterKill();
    long second = epoch;
    assertThat(second).isGreaterThan(first);
    assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isGreaterThan(second);
  }

  @Test
  void an_epoch_is_not_below_what_is_asked_for_and_never_goes_back() throws Exception {
    long asked = epoch + 40;
    assertThat(store.openEpoch(new TakeOver(asked, 0)).epoch()).isEqualTo(asked);
    assertThat(store.epoch()).isEqualTo(asked);
    assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(asked + 1);
    restartAfterKill();
    assertThat(epoch).isEqualTo(asked + 2);
    assertThat(store.epoch()).isEqualTo(epoch);
  }

  @Test
  void a_take_over_tells_of_the_leases_before_and_which_store_it_is() throws Exception {
    Taken patient = store.openEpoch(new TakeOver(1, 660_000));
    assertThat(patient.storeId()).isNotEmpty();
    assertThat(patient.first()).isFalse();
    store = remembered(open());
    Taken quick = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(quick.storeId()).isEqualTo(patient.storeId());
    assertThat(quick.earlierLeaseMillis()).isEqualTo(660_000);
  }

  @Test
  void leases_of_earlier_leaderships_are_told_until_they_were_outwaited() throws Exception {
    Taken patient = store.openEpoch(new TakeOver(1, 660_000));
    store.outwaited(patient.epoch(), 660_000);
    Taken quick = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(quick.earlierLeaseMillis()).isEqualTo(660_000);
    // This leadership ends before its own wait does, and so does the next: leases of the first may
    // still be in force.
    Taken again = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(again.earlierLeaseMillis()).isEqualTo(660_000);
    assertThatThrownBy(() -> store.outwaited(quick.epoch(), 20_000))
        .isInstanceOf(StaleEpochException.class);
    assertThat(store.openEpoch(TakeOver.PLAIN).earlierLeaseMillis()).isEqualTo(660_000);
    store = remembered(open());
    Taken last = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(last.earlierLeaseMillis()).isEqualTo(660_000);
    store.outwaited(last.epoch(), 20_000);
    store = remembered(open());
    Taken plain = store.openEpoch(TakeOver.PLAIN);
    assertThat(plain.earlierLeaseMillis()).isEqualTo(20_000);
    store.outwaited(plain.epoch(), 0);
    assertThat(store.openEpoch(TakeOver.PLAIN).earlierLeaseMillis()).isZero();
  }

  @Test
  void an_older_epoch_can_write_nothing_more() throws Exception {
    StatusStore deposed = store;
    long old = epoch;
    store.commit(old, StoreTransaction.of(List.of(row("j", "n", status(Main.RUNNING, 1)))));
    restartAfterKill();
    StoreTransaction late =
        StoreTransaction.builder()
            .put(row("j", "n", status(Main.DONE, 1)))
            .put(row("j", "m", status(Main.DONE, 1)))
            .pause(new Pause("j", "", "", 1, 0))
            .build();
    assertThatThrownBy(() -> deposed.commit(old, late))
        .isInstanceOfSatisfying(
            StaleEpochException.class,
            e -> {
              assertThat(e.mine()).isEqualTo(old);
              assertThat(e.current()).isEqualTo(epoch);
              assertThat(e.retryable()).isFalse();
            });
    assertThatThrownBy(() -> store.commit(epoch + 1, late)).isInstanceOf(StaleEpochException.class);
    assertThat(rows("j")).containsExactly(row("j", "n", status(Main.RUNNING, 1)));
    assertThat(store.pauses()).isEmpty();
    store.commit(epoch, late);
    assertThat(rows("j")).hasSize(2);
  }

  @Test
  void a_batch_that_fails_leaves_nothing_behind() {
    store.commit(epoch, StoreTransaction.builder().append(event(5)).build());
    StoreTransaction bad =
        StoreTransaction.builder()
            .forget("other")
            .put(row("new job", "n", failed()))
            .pause(new Pause("j", "", "", 1, 0))
            .append(event(6))
            .append(event(4))
            .build();
    assertThatThrownBy(() -> store.commit(epoch, bad)).isInstanceOf(IllegalArgumentException.class);
    assertThat(rows("new job")).isEmpty();
    assertThat(store.jobs()).isEmpty();
    assertThat(store.pauses()).isEmpty();
    assertThat(store.newestEvent()).isEqualTo(5);
    StatusRow good = row("new job", "n", failed());
    store.commit(epoch, StoreTransaction.builder().put(good).append(event(6)).build());
    assertThat(rows("new job")).containsExactly(good);
    assertThat(store.newestEvent()).isEqualTo(6);
  }

  @Test
  void an_empty_batch_is_no_error() {
    store.commit(epoch, StoreTransaction.EMPTY);
    assertThat(store.jobs()).isEmpty();
  }

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
  void standings_of_jobs_are_kept_until_the_job_is_forgotten() throws Exception {
    JobStateRecord first =
        new JobStateRecord(
            "a", JobState.FAILED, "6 of 53", NOW, "6 of 53", true, true, new Start(6, 53, NOW));
    JobStateRecord second =
        new JobStateRecord("b".repeat(239), JobState.RUNNING, "", NOW, "", false, false, Start.ALL);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .put(row("a", "n", failed()))
            .standing(first)
            .standing(second)
            .append(event(1))
            .build());
    restartAfterKill();
    assertThat(store.standings()).containsExactlyInAnyOrder(first, second);
    JobStateRecord changed =
        new JobStateRecord("a", JobState.RUNNING, "", NOW + 1, "", false, false, Start.ALL);
    store.commit(
        epoch,
        StoreTransaction.builder().standing(first).standing(changed).forget(second.job()).build());
    restartAfterKill();
    assertThat(store.standings()).containsExactly(changed);
    store.commit(
        epoch, StoreTransaction.builder().standing(first).forget("a").standing(second).build());
    restartAfterKill();
    assertThat(store.standings()).containsExactly(second);
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
  void brakes_are_kept_until_they_are_ended() throws Exception {
    Brake all = new Brake(Brake.Key.all(), 0, Map.of(), null, "ann", "no \"net\"", NOW, 0, 0);
    Brake.Key queue = new Brake.Key(Brake.Target.QUEUE, "", "q".repeat(300));
    Brake share =
        new Brake(
            queue,
            250_000,
            Map.of(queue.name(), 7),
            new Brake.Ramp(100_000, 60_000),
            "",
            "",
            NOW,
            NOW + 60_000,
            NOW + 1);
    Brake node =
        new Brake(
            new Brake.Key(Brake.Target.NODE, "rack", "r1"), 1, Map.of(), null, "", "", NOW, 0, 0);
    store.commit(epoch, StoreTransaction.builder().brake(all).brake(share).brake(node).build());
    restartAfterKill();
    assertThat(store.brakes()).containsExactlyInAnyOrder(all, share, node);
    Brake changed = new Brake(Brake.Key.all(), 1, Map.of(), null, "bob", "", NOW + 1, 0, 0);
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
  void holds_of_workers_are_kept_until_they_are_released() throws Exception {
    WorkerCordon first = new WorkerCordon("w1", WorkerCordon.Kind.DRAIN, "ann", "new kernel", NOW);
    WorkerCordon second = new WorkerCordon("w2", WorkerCordon.Kind.CORDON, "", "", NOW);
    store.commit(epoch, StoreTransaction.builder().hold(first).hold(second).build());
    restartAfterKill();
    assertThat(store.holds()).containsExactlyInAnyOrder(first, second);
    WorkerCordon changed = new WorkerCordon("w1", WorkerCordon.Kind.CORDON, "bob", "", NOW + 1);
    store.commit(
        epoch, StoreTransaction.builder().release("w2").release("never was").hold(changed).build());
    restartAfterKill();
    assertThat(store.holds()).containsExactly(changed);
  }

  @Test
  void events_are_read_back_in_order_from_any_point() throws Exception {
    assertThat(store.newestEvent()).isZero();
    assertThat(store.events(0, 10)).isEmpty();
    StoreTransaction.Builder first = StoreTransaction.builder();
    StoreTransaction.Builder second = StoreTransaction.builder();
    for (int i = 1; i <= 5; i++) {
      first.append(event(i));
      second.append(event(10 + i));
    }
    store.commit(epoch, first.build());
    store.commit(epoch, second.build());
    restartAfterKill();
    assertThat(store.newestEvent()).isEqualTo(15);
    assertThat(store.events(0, 100)).hasSize(10).startsWith(event(1)).endsWith(event(15));
    assertThat(store.events(3, 3)).containsExactly(event(4), event(5), event(11));
    assertThat(store.events(7, 1)).containsExactly(event(11));
    assertThat(store.events(15, 10)).isEmpty();
    assertThat(store.events(99, 10)).isEmpty();
    assertThat(store.events(0, 0)).isEmpty();
  }

  @Test
  void old_events_make_room_for_new_ones() {
    int total = StatusStore.KEPT_EVENTS + 30_000;
    for (int next = 1; next <= total; ) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      for (int i = 0; i < 5_000; i++) {
        batch.append(event(next++));
      }
      store.commit(epoch, batch.build());
    }
    // Old, and more than the retention allows: the minimum that a store keeps takes precedence.
    cleanUp(new StatusStore.Retention(Long.MAX_VALUE, 1), 1_000);
    long oldest = store.events(0, 1).get(0).sequence();
    assertThat(oldest).isGreaterThan(1).isLessThanOrEqualTo(total - StatusStore.KEPT_EVENTS + 1);
    assertThat(store.events(total - StatusStore.KEPT_EVENTS, 1).get(0).sequence())
        .isEqualTo(total - StatusStore.KEPT_EVENTS + 1);
    assertThat(store.newestEvent()).isEqualTo(total);
  }

  @Test
  void events_are_kept_for_their_time_and_up_to_their_number() {
    // The memory store keeps only the minimum and has nothing to clean up.
    int total = StatusStore.KEPT_EVENTS + 40_000;
    for (int next = 1; next <= total; ) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      for (int i = 0; i < 5_000; i++) {
        batch.append(event(next++));
      }
      store.commit(epoch, batch.build());
    }
    long before = store.events(0, 1).get(0).sequence();
    cleanUp(new StatusStore.Retention(0, Long.MAX_VALUE), 1_000);
    assertThat(store.events(0, 1).get(0).sequence()).isEqualTo(before);
    cleanUp(new StatusStore.Retention(NOW + 10_000, Long.MAX_VALUE), 1_000);
    // Rows stored together are deleted together, at most a batch.
    assertThat(store.events(0, 1).get(0).sequence())
        .isBetween(Math.max(before, 5_001), Math.max(before, 10_000));
    cleanUp(new StatusStore.Retention(0, StatusStore.KEPT_EVENTS + 20_000), 1_000);
    assertThat(store.events(0, 1).get(0).sequence())
        .isBetween(Math.max(before, 15_001), Math.max(before, 20_001));
  }

  @Test
  void the_rows_of_a_forgotten_job_are_deleted_piece_by_piece_while_commits_go_on()
      throws Exception {
    List<StatusRow> rows = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      rows.add(row("big", "n" + i, status(Main.RUNNING, 1)));
    }
    store.commit(epoch, StoreTransaction.of(rows));
    store.commit(epoch, StoreTransaction.builder().forget("big").build());
    StatusRow again = row("big", "n7", status(Main.DONE, 1));
    store.commit(epoch, StoreTransaction.of(List.of(again)));
    restartAfterKill();
    assertThat(store.jobs()).containsExactly("big");
    assertThat(rows("big")).containsExactly(again);
    assertThat(store.running()).isEmpty();
    StatusStore.Retention all = new StatusStore.Retention(0, Long.MAX_VALUE);
    int deleted = store.cleanUp(epoch, all, 1_000);
    assertThat(deleted).isLessThanOrEqualTo(1_001);
    store.commit(epoch, StoreTransaction.of(List.of(row("other", "n", failed()))));
    cleanUp(all, 1_000);
    assertThat(rows("big")).containsExactly(again);
    assertThat(rows("other")).hasSize(1);
    store.commit(epoch, StoreTransaction.builder().forget("big").forget("other").build());
    cleanUp(all, 1_000);
    assertThat(store.jobs()).isEmpty();
    store.commit(epoch, StoreTransaction.of(List.of(again)));
    assertThat(rows("big")).containsExactly(again);
  }

  @Test
  void an_older_epoch_cleans_nothing_up() throws Exception {
    StatusStore deposed = store;
    long old = epoch;
    restartAfterKill();
    assertThatThrownBy(() -> deposed.cleanUp(old, new StatusStore.Retention(0, 1), 10))
        .isInstanceOf(StaleEpochException.class);
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

  private void cleanUp(StatusStore.Retention retention, int atMost) {
    int calls = 0;
    while (store.cleanUp(epoch, retention, atMost) > 0) {
      calls++;
      assertThat(calls).isLessThan(1_000);
    }
  }

  @Test
  void a_store_serves_one_source_only() throws Exception {
    store.bindSource("file:/a.json");
    store.bindSource("file:/a.json");
    restartAfterKill();
    store.bindSource("file:/a.json");
    assertThatThrownBy(() -> store.bindSource("file:/b.json"))
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.retryable()).isFalse())
        .hasMessageContaining("belongs to file:/a.json, not to file:/b.json");
  }

  @Test
  void readers_see_whole_commits_while_a_writer_commits() throws Exception {
    AtomicBoolean writing = new AtomicBoolean(true);
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      Future<?> writer =
          threads.submit(
              () -> {
                for (int i = 1; i <= 100; i++) {
                  TaskStatus same = status(Main.DONE, i);
                  store.commit(
                      epoch,
                      StoreTransaction.of(List.of(row("j", "a", same), row("j", "b", same))));
                }
                writing.set(false);
              });
      List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        readers.add(
            threads.submit(
                () -> {
                  while (writing.get()) {
                    assertThat(rows("j").stream().map(StatusRow::status).distinct().count())
                        .isLessThanOrEqualTo(1);
                  }
                }));
      }
      writer.get();
      for (Future<?> reader : readers) {
        reader.get();
      }
    } finally {
      writing.set(false);
      threads.shutdownNow();
    }
  }

  @Test
  void many_threads_may_commit() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int mine = t;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    store.commit(
                        epoch,
                        StoreTransaction.of(List.of(row("job" + mine, "node" + i, failed()))));
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    for (int t = 0; t < 4; t++) {
      assertThat(rows("job" + t)).hasSize(50);
    }
  }

  private List<StatusRow> rows(String job) {
    List<StatusRow> found = new ArrayList<>();
    store.load(job, found::add);
    return found;
  }

  private static StatusRow row(String job, String node, TaskStatus status) {
    return new StatusRow(job, node, status, new Invocation(1, 2, NOW));
  }

  private static TaskStatus status(Main main, int attempts) {
    return TaskStatus.of(main, NOW, attempts);
  }

  private static TaskStatus failed() {
    return status(Main.FAILED, 3);
  }

  private static Event event(long sequence) {
    return new Event(
        sequence, NOW + sequence, "task_ended", Json.object().put("node", "n" + sequence).build());
  }

  private static TaskStatus randomStatus(SplittableRandom random) {
    Main main = STORED.get(random.nextInt(STORED.size()));
    Json.@Nullable Obj data =
        random.nextBoolean()
            ? null
            : Json.object().put("k", random.nextLong()).put("s", "v" + random.nextInt()).build();
    return TaskStatus.ofBits(
        main.bit() | (random.nextInt() & FLAGS),
        random.nextLong(0, 1L << 45),
        random.nextInt(0, Integer.MAX_VALUE),
        random.nextInt(0, Integer.MAX_VALUE),
        random.nextInt(0, Integer.MAX_VALUE),
        data);
  }
}
