package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract for past attempts and workers in a status store: part of {@link
 * StatusStoreContract}.
 */
abstract class AttemptsContract extends StoreContract {
  @Test
  void the_worker_of_a_row_survives() throws Exception {
    List<StatusRow> written = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      written.add(row("j", "n" + i, new WorkerRef("shard " + i % 3, Long.MIN_VALUE + i % 2)));
    }
    written.add(row("j", "here", WorkerRef.LOCAL));
    store.commit(epoch, StoreTransaction.of(written));
    restartAfterKill();
    List<StatusRow> found = new ArrayList<>();
    store.load("j", found::add);
    assertThat(found).containsExactlyInAnyOrderElementsOf(written);
    assertThat(store.load("j", List.of("n4"))).containsExactly(written.get(4));
    StatusRow moved = row("j", "n4", WorkerRef.LOCAL);
    store.commit(epoch, StoreTransaction.of(List.of(moved)));
    assertThat(store.load("j", List.of("n4"))).containsExactly(moved);
  }

  @Test
  void a_task_that_never_ended_has_no_history() {
    assertThat(store.history("unknown", "n")).isEqualTo(TaskHistory.EMPTY);
    store.commit(epoch, StoreTransaction.of(List.of(row("j", "n", WorkerRef.LOCAL))));
    assertThat(store.history("j", "n")).isEqualTo(TaskHistory.EMPTY);
    assertThat(store.history("j", "other")).isEqualTo(TaskHistory.EMPTY);
  }

  @Test
  void every_field_of_an_attempt_survives() throws Exception {
    Attempt full =
        new Attempt(
            "j",
            "n",
            7,
            new Invocation(3, 99, NOW - 5_000),
            new WorkerRef("shard", -1),
            NOW,
            TaskResult.Kind.KILLED,
            584,
            2,
            15,
            true,
            StopReason.NO_OUTPUT,
            new ResourceUsage(1, 2, 3, 4),
            "a \"message\"\nof two lines",
            "00112233aabbccdd",
            true,
            12,
            3_600_000,
            NOW - 4_900,
            new Counters(Map.of("rows", 1L << 53, "bytes", 0L)),
            "compensate ship");
    Attempt bare =
        Attempt.of(
            TaskResult.exited("j", "n", new Invocation(3, 100, NOW), null, null),
            8,
            WorkerRef.LOCAL,
            TaskStatus.of(Main.DONE, NOW, 8),
            false,
            Attempt.UNKNOWN_WAIT,
            NOW + 1);
    store.commit(epoch, batch(row("j", "n", WorkerRef.LOCAL), full, bare));
    restartAfterKill();
    assertThat(store.history("j", "n")).isEqualTo(history(List.of(full, bare)));
  }

  @Test
  void the_wait_and_the_counters_of_a_running_task_survive() throws Exception {
    StatusRow plain = row("j", "n", WorkerRef.LOCAL);
    StatusRow waited =
        new StatusRow(
            "j",
            "n",
            plain.status(),
            plain.invocation(),
            plain.worker(),
            null,
            86_400_000,
            new Counters(Map.of("rows", 7L)),
            "");
    store.commit(epoch, StoreTransaction.of(List.of(waited)));
    restartAfterKill();
    assertThat(store.running()).containsExactly(waited);
    assertThat(store.load("j", List.of("n"))).containsExactly(waited);
  }

  @Test
  void the_totals_of_attempts_are_summed_over_commits() throws Exception {
    Attempt first = attempt("j", "n", 1, 7);
    Attempt second = attempt("j", "n", 2, 8);
    Attempt third = attempt("j", "n", 3, 9);
    store.commit(epoch, batch(row("j", "n", WorkerRef.LOCAL), first, second));
    store.commit(epoch, StoreTransaction.builder().attempt(third).build());
    restartAfterKill();
    // Of the third it is not known when its process started.
    long ran = (10 - 2) + (20 - 4) + (30 - 3);
    assertThat(store.history("j", "n").totals())
        .isEqualTo(
            new TaskTotals(
                3, 24, ran, 50 + 150 + 250, new Counters(Map.of("rows", 6L, "n1", 1L, "n3", 1L))));
  }

  @Test
  void the_newest_attempts_are_kept_and_all_are_counted() throws Exception {
    StatusRow row = row("j", "n", WorkerRef.LOCAL);
    List<Attempt> all = new ArrayList<>();
    for (int i = 1; i <= 3 * StatusStore.KEPT_ATTEMPTS + 1; i++) {
      Attempt attempt = attempt("j", "n", i, 10);
      all.add(attempt);
      store.commit(epoch, batch(row, attempt));
      int round = i % StatusStore.KEPT_ATTEMPTS;
      if (round <= 1 || round == StatusStore.KEPT_ATTEMPTS - 1) {
        // Where the ring buffer wraps around.
        List<Attempt> kept = all.subList(Math.max(0, i - StatusStore.KEPT_ATTEMPTS), i);
        assertThat(store.history("j", "n")).isEqualTo(new TaskHistory(history(all).totals(), kept));
      }
    }
    restartAfterKill();
    assertThat(store.history("j", "n").attempts())
        .isEqualTo(all.subList(all.size() - StatusStore.KEPT_ATTEMPTS, all.size()));
  }

  @Test
  void the_histories_of_many_tasks_are_read_together() {
    StoreTransaction.Builder batch = StoreTransaction.builder();
    Map<String, TaskHistory> written = new HashMap<>();
    for (int i = 0; i < 700; i++) {
      String node = "n" + i;
      batch.put(row("j", node, WorkerRef.LOCAL));
      List<Attempt> attempts = new ArrayList<>();
      for (int k = 1; k <= i % 4; k++) {
        attempts.add(attempt("j", node, k, i));
      }
      attempts.forEach(batch::attempt);
      if (!attempts.isEmpty()) {
        written.put(node, history(attempts));
      }
    }
    batch.put(row("k", "n1", WorkerRef.LOCAL)).attempt(attempt("k", "n1", 9, 1));
    store.commit(epoch, batch.build());
    List<String> asked = new ArrayList<>(written.keySet());
    asked.add("n0");
    asked.add("nowhere");
    assertThat(store.histories("j", asked)).isEqualTo(written);
    assertThat(store.histories("unknown", asked)).isEmpty();
    assertThat(store.histories("j", List.of())).isEmpty();
  }

  @Test
  void an_attempt_of_a_task_without_a_row_is_dropped() {
    store.commit(
        epoch,
        batch(
            row("j", "n", WorkerRef.LOCAL),
            attempt("j", "n", 1, 1),
            attempt("j", "gone", 1, 1),
            attempt("never", "was", 1, 1)));
    assertThat(store.history("j", "gone")).isEqualTo(TaskHistory.EMPTY);
    store.commit(epoch, StoreTransaction.of(List.of(row("j", "gone", WorkerRef.LOCAL))));
    assertThat(store.history("j", "gone")).isEqualTo(TaskHistory.EMPTY);
    assertThat(store.history("j", "n").totals().ended()).isEqualTo(1);
  }

  @Test
  void history_goes_with_its_row_and_does_not_come_back() {
    StatusRow a = row("j", "a", WorkerRef.LOCAL);
    StatusRow b = row("j", "b", WorkerRef.LOCAL);
    StatusRow c = row("k", "c", WorkerRef.LOCAL);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .put(a)
            .put(b)
            .put(c)
            .attempt(attempt("j", "a", 1, 1))
            .attempt(attempt("j", "b", 1, 1))
            .attempt(attempt("k", "c", 1, 1))
            .build());
    store.commit(epoch, StoreTransaction.builder().delete("j", "a").build());
    store.commit(epoch, StoreTransaction.of(List.of(a)));
    assertThat(store.history("j", "a")).isEqualTo(TaskHistory.EMPTY);
    assertThat(store.history("j", "b").totals().ended()).isEqualTo(1);
    store.commit(
        epoch,
        StoreTransaction.builder()
            .attempt(attempt("j", "a", 2, 1))
            .forget("j")
            .put(a)
            .put(b)
            .attempt(attempt("j", "b", 1, 3))
            .build());
    assertThat(store.history("j", "a")).isEqualTo(TaskHistory.EMPTY);
    assertThat(store.history("j", "b")).isEqualTo(history(List.of(attempt("j", "b", 1, 3))));
    assertThat(store.history("k", "c").totals().ended()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void histories_of_many_tasks_do_not_mix(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, List<Attempt>> expected = new HashMap<>();
    for (int commit = 0; commit < 60; commit++) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      for (int i = random.nextInt(1, 40); i > 0; i--) {
        String node = "n" + random.nextInt(30);
        List<Attempt> mine = expected.computeIfAbsent(node, key -> new ArrayList<>());
        Attempt attempt = attempt("j", node, mine.size() + 1, random.nextInt(100));
        mine.add(attempt);
        batch.put(row("j", node, WorkerRef.LOCAL)).attempt(attempt);
      }
      store.commit(epoch, batch.build());
      if (commit % 20 == 19) {
        restartAfterKill();
      }
    }
    expected.forEach(
        (node, all) -> {
          int from = Math.max(0, all.size() - StatusStore.KEPT_ATTEMPTS);
          assertThat(store.history("j", node))
              .isEqualTo(new TaskHistory(history(all).totals(), all.subList(from, all.size())));
        });
  }

  private static TaskHistory history(List<Attempt> attempts) {
    TaskTotals totals = TaskTotals.NONE;
    for (Attempt attempt : attempts) {
      totals = totals.plus(attempt);
    }
    return new TaskHistory(totals, attempts);
  }

  private static StoreTransaction batch(StatusRow row, Attempt... attempts) {
    StoreTransaction.Builder batch = StoreTransaction.builder().put(row);
    for (Attempt attempt : attempts) {
      batch.attempt(attempt);
    }
    return batch.build();
  }

  private static Attempt attempt(String job, String node, int number, long cpuMillis) {
    return new Attempt(
        job,
        node,
        number,
        new Invocation(1, number, NOW + number),
        WorkerRef.LOCAL,
        NOW + 10L * number,
        TaskResult.Kind.EXITED,
        32,
        1,
        null,
        false,
        null,
        new ResourceUsage(cpuMillis, 5, -1, -1),
        "failed",
        "0123456789abcdef",
        number % 2 == 0,
        10 * number,
        100L * number - 50,
        number % 3 == 0 ? 0 : NOW + 2L * number,
        number % 2 == 0 ? Counters.NONE : new Counters(Map.of("rows", 3L, "n" + number, 1L)),
        "");
  }

  private static StatusRow row(String job, String node, WorkerRef worker) {
    TaskStatus status = TaskStatus.of(Main.RUNNING, NOW, 1);
    return new StatusRow(job, node, status, new Invocation(1, 1, NOW), worker);
  }
}
