package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every status store. Extend it and implement {@link #open}. */
public abstract class StatusStoreContract extends LeadershipContract {
  private static final Backoff LADDER = new Backoff(List.of(1, 2, 4), false);

  private static final int FLAGS =
      TaskStatus.USES_BACKOFF
          | TaskStatus.DOES_NOT_ADVANCE_BACKOFF
          | TaskStatus.OVERWRITEABLE
          | TaskStatus.HAS_SAVED_BACKOFF;

  private static final List<Main> STORED =
      List.of(Main.RUNNING, Main.DONE, Main.INCOMPLETE, Main.FAILED, Main.ERROR);

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
  void theCallAndTheBatchOfARunningTaskSurviveARestart() throws Exception {
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
        new StatusRow(
            "j", "n", running, invocation, WorkerRef.LOCAL, call, 17, Counters.NONE, "3.16");
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
