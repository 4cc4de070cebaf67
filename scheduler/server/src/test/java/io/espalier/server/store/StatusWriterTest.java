package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RefusedDataException;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// Waiting for a batch that is never committed cannot be interrupted: hence a thread of its own.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StatusWriterTest {
  private static final StatusWriter.Limits SMALL =
      new StatusWriter.Limits(10, 4, Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(5));

  private final FlakyStore store = new FlakyStore();
  private final long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
  private final StatusWriter writer = new StatusWriter(store, epoch, SMALL);

  @Test
  void nothing_is_done_before_the_commit_and_then_all_in_order() {
    List<Integer> completed = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int mine = i;
      writer.submit(one("n" + i)).thenRun(() -> completed.add(mine));
    }
    assertThat(completed).isEmpty();
    assertThat(writer.queueLength()).isEqualTo(3);
    assertThat(writer.drainOnce()).isEqualTo(3);
    assertThat(completed).containsExactly(0, 1, 2);
    assertThat(writer.queueLength()).isZero();
    assertThat(writer.drainOnce()).isZero();
    assertThat(store.commits).isEqualTo(1);
    assertThat(writer.commits()).isEqualTo(1);
    assertThat(writer.committedChanges()).isEqualTo(3);
  }

  @Test
  void a_group_ends_at_its_size_but_a_large_batch_is_never_split() {
    for (int i = 0; i < 5; i++) {
      writer.submit(one("n" + i));
    }
    StoreTransaction.Builder large = StoreTransaction.builder();
    for (int i = 0; i < 100; i++) {
      large.put(row("large" + i, 1));
    }
    writer.submit(large.build());
    writer.submit(one("last"));
    assertThat(writer.drainOnce()).isEqualTo(4);
    assertThat(writer.drainOnce()).isEqualTo(1);
    assertThat(writer.drainOnce()).isEqualTo(1);
    assertThat(writer.drainOnce()).isEqualTo(1);
    assertThat(writer.drainOnce()).isZero();
    assertThat(loaded()).hasSize(106);
  }

  @Test
  void a_start_and_its_end_in_one_group_are_written_once() {
    writer.submit(StoreTransaction.of(List.of(row("n", 1))));
    writer.submit(StoreTransaction.of(List.of(row("n", 2))));
    writer.drainOnce();
    assertThat(loaded()).containsExactly(row("n", 2));
    assertThat(writer.committedChanges()).isEqualTo(1);
  }

  @Test
  void what_failed_is_given_again_as_it_was_although_more_has_come() {
    writer.submit(one("a"));
    writer.submit(one("b"));
    store.failure = new StoreException("no answer", true, null);
    assertThat(writer.drainOnce()).isZero();
    StoreTransaction failed = store.newest;
    writer.submit(one("c"));
    assertThat(writer.drainOnce()).isZero();
    assertThat(store.newest).isSameAs(failed);
    assertThat(writer.failures()).isEqualTo(2);
    assertThat(writer.oldestNanos()).isPositive();
    List<Long> observed = new ArrayList<>();
    writer.observe(observed::add);
    store.failure = null;
    assertThat(writer.drainOnce()).isEqualTo(2);
    assertThat(store.newest).isSameAs(failed);
    assertThat(writer.drainOnce()).isEqualTo(1);
    assertThat(loaded()).hasSize(3);
    assertThat(observed).as("one time for each good transaction").hasSize(2);
    assertThat(writer.oldestNanos()).isZero();
  }

  @Test
  void it_tells_when_the_store_is_too_slow_and_when_it_has_caught_up() {
    for (int i = 0; i < 9; i++) {
      writer.submit(one("n" + i));
    }
    assertThat(writer.isSaturated()).isFalse();
    writer.submit(one("n9"));
    assertThat(writer.isSaturated()).isTrue();
    writer.submit(one("an end is taken all the same"));
    writer.drainOnce();
    assertThat(writer.isSaturated()).isFalse();
  }

  @Test
  void only_batches_that_queue_up_wait_for_others_and_closing_ends_the_wait() {
    StatusWriter spaced =
        new StatusWriter(
            store,
            epoch,
            new StatusWriter.Limits(
                10, 4, Duration.ofHours(1), Duration.ofMillis(1), Duration.ofMillis(5)));
    CompletionStage<Void> first = spaced.submit(one("a"));
    spaced.start();
    first.toCompletableFuture().join();
    spaced.submit(one("b")).toCompletableFuture().join();
    assertThat(spaced.commits()).as("one at a time does not wait").isEqualTo(2);
    // The observer runs on the writer's thread, so d is queued before c has completed.
    CompletableFuture<CompletionStage<Void>> next = new CompletableFuture<>();
    spaced.observe(
        nanos -> {
          if (!next.isDone()) {
            next.complete(spaced.submit(one("d")));
          }
        });
    spaced.submit(one("c")).toCompletableFuture().join();
    CompletionStage<Void> waits = next.join();
    assertThat(spaced.queueLength()).as("d waits for others").isEqualTo(1);
    assertThat(waits.toCompletableFuture()).isNotDone();
    assertThat(spaced.close(Duration.ofSeconds(60))).isTrue();
    assertThat(waits.toCompletableFuture()).isCompleted();
    assertThat(loaded()).hasSize(4);
  }

  @Test
  void while_the_store_is_away_everything_is_kept_and_the_problem_shown() {
    store.failure = new StoreException("the disk is full", true, null);
    CompletionStage<Void> stage = writer.submit(one("n"));
    assertThat(writer.drainOnce()).isZero();
    assertThat(writer.drainOnce()).isZero();
    assertThat(writer.problem()).contains("the disk is full");
    assertThat(writer.failure()).isEmpty();
    assertThat(stage.toCompletableFuture()).isNotDone();
    store.failure = null;
    assertThat(writer.drainOnce()).isEqualTo(1);
    assertThat(writer.problem()).isEmpty();
    assertThat(stage.toCompletableFuture()).isCompleted();
    assertThat(loaded()).hasSize(1);
  }

  @Test
  void a_store_that_refuses_what_queues_have_used_is_told_of_and_loses_neither_that_nor_the_rest() {
    store.refuses = batch -> !batch.queueUsage().isEmpty();
    writer.submit(one("before"));
    assertThat(writer.drainOnce()).isEqualTo(1);
    List<CompletionStage<Void>> stages = new ArrayList<>();
    stages.add(writer.submit(usage(0.25, 10)));
    stages.add(writer.submit(one("after")));
    assertThat(writer.drainOnce()).isZero();
    // The loop goes on; ten seconds later there is a newer sample.
    stages.add(writer.submit(usage(0.5, 20)));
    assertThat(writer.drainOnce()).isZero();
    assertThat(writer.problem().orElseThrow()).contains("this is refused");
    assertThat(writer.failures()).isEqualTo(2);
    assertThat(writer.failure()).as("it is worth another try").isEmpty();
    assertThat(writer.oldestNanos()).isPositive();
    assertThat(stages).noneMatch(stage -> stage.toCompletableFuture().isDone());
    assertThat(loaded()).hasSize(1);
    assertThat(store.queueUsage()).isEmpty();

    store.refuses = batch -> false;
    while (writer.queueLength() > 0) {
      assertThat(writer.drainOnce()).isPositive();
    }
    assertThat(stages).allMatch(stage -> stage.toCompletableFuture().isDone());
    assertThat(writer.problem()).isEmpty();
    assertThat(loaded()).hasSize(2);
    assertThat(store.queueUsage()).containsExactly(new QueueUsage("q", 0.5, 20));
  }

  private static StoreTransaction usage(double value, long atMillis) {
    return StoreTransaction.builder()
        .queueUsage(List.of(new QueueUsage("q", value, atMillis)))
        .build();
  }

  @Test
  void a_store_that_was_taken_over_ends_the_writer() {
    CompletionStage<Void> first = writer.submit(one("a"));
    CompletionStage<Void> second = writer.submit(one("b"));
    store.openEpoch(TakeOver.PLAIN);
    assertThat(writer.drainOnce()).isEqualTo(2);
    assertThat(writer.failure()).containsInstanceOf(StaleEpochException.class);
    CompletionStage<Void> later = writer.submit(one("c"));
    for (CompletionStage<Void> stage : List.of(first, second, later)) {
      assertThatThrownBy(() -> stage.toCompletableFuture().join())
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(StaleEpochException.class);
    }
    assertThat(writer.queueLength()).isZero();
    assertThat(writer.close(Duration.ofSeconds(1))).isFalse();
  }

  @Test
  void data_that_the_store_refuses_are_left_out_and_everything_else_is_kept() {
    store.neverTakes =
        batch ->
            batch.rows().stream()
                .anyMatch(
                    row -> row.status().data() != null && row.status().data().get("bad") != null);
    StoreTransaction mixed =
        StoreTransaction.builder()
            .put(with("good", "fine"))
            .put(with("refused", "bad"))
            .append(
                new Event(
                    1,
                    1,
                    "task_ended",
                    Json.object()
                        .put("job", "j")
                        .put("node", "refused")
                        .put("data", Json.object().put("bad", 1).build())
                        .build()))
            .build();
    List<CompletionStage<Void>> stages =
        List.of(writer.submit(one("before")), writer.submit(mixed), writer.submit(one("after")));

    for (int turn = 0; turn < 20 && writer.queueLength() > 0; turn++) {
      writer.drainOnce();
    }

    assertThat(stages).allMatch(stage -> stage.toCompletableFuture().isDone());
    assertThat(writer.failure()).isEmpty();
    assertThat(writer.problem()).isEmpty();
    Map<String, StatusRow> rows = new HashMap<>();
    store.load("j", row -> rows.put(row.node(), row));
    assertThat(rows).containsOnlyKeys("before", "good", "refused", "after");
    assertThat(data(rows, "good")).isEqualTo("{\"fine\":1}");
    assertThat(data(rows, "refused")).isEqualTo("{\"refused_by_store\":true}");
    assertThat(Objects.requireNonNull(rows.get("refused")).status().main()).isEqualTo(Main.DONE);
    assertThat(store.events(0, 10))
        .singleElement()
        .satisfies(
            event ->
                assertThat(JsonWriter.compact(event.data()))
                    .contains("\"data\":{\"refused_by_store\":true}"));
  }

  @Test
  void what_is_refused_without_any_data_in_it_ends_the_writer() {
    store.neverTakes = batch -> true;
    CompletionStage<Void> stage = writer.submit(one("a"));
    writer.drainOnce();
    assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
    assertThat(writer.failure()).containsInstanceOf(RefusedDataException.class);
  }

  private static StatusRow with(String node, String key) {
    return new StatusRow(
        "j",
        node,
        TaskStatus.of(Main.DONE, 1, 1).withData(Json.object().put(key, 1).build()),
        new Invocation(1, 1, 1));
  }

  private static String data(Map<String, StatusRow> rows, String node) {
    return JsonWriter.compact(
        Objects.requireNonNull(Objects.requireNonNull(rows.get(node)).status().data()));
  }

  @Test
  void a_bug_in_a_batch_ends_the_writer_instead_of_blocking_it_for_ever() {
    store.bug = new IllegalArgumentException("event 4 comes after event 5");
    CompletionStage<Void> stage = writer.submit(one("a"));
    writer.drainOnce();
    assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
    assertThat(writer.failure().orElseThrow()).hasMessageContaining("event 4 comes after event 5");
  }

  @Test
  void its_thread_commits_what_many_threads_submit_and_loses_nothing() throws Exception {
    writer.start();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      AtomicInteger durable = new AtomicInteger();
      List<Future<?>> submitters = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int mine = t;
        submitters.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    writer.submit(one("n" + mine + "." + i)).thenRun(durable::incrementAndGet);
                  }
                }));
      }
      store.failure = new StoreException("away for a while", true, null);
      await().until(() -> writer.problem().isPresent());
      store.failure = null;
      for (Future<?> submitter : submitters) {
        submitter.get();
      }
      assertThat(writer.close(Duration.ofSeconds(30))).isTrue();
      assertThat(durable).hasValue(2000);
      assertThat(loaded()).hasSize(2000);
      assertThat(writer.problem()).isEmpty();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void stages_complete_in_the_order_of_submission_on_the_writer_s_thread() throws Exception {
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    AtomicBoolean elsewhere = new AtomicBoolean();
    List<CompletionStage<Void>> stages = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      int mine = i;
      stages.add(
          writer
              .submit(one("n" + i))
              .thenRun(
                  () -> {
                    order.add(mine);
                    if (!Thread.currentThread().getName().equals("espalier-status-writer")) {
                      elsewhere.set(true);
                    }
                  }));
    }
    writer.start();
    stages.get(199).toCompletableFuture().get();
    assertThat(order).isSorted().hasSize(200);
    assertThat(elsewhere).isFalse();
    writer.close();
  }

  @Test
  void a_failing_listener_harms_nobody() {
    writer.submit(one("a")).thenRun(() -> sneaky("listener"));
    CompletionStage<Void> second = writer.submit(one("b"));
    writer.drainOnce();
    assertThat(second.toCompletableFuture()).isCompleted();
  }

  @Test
  void closing_is_bounded_and_says_what_was_lost() {
    store.failure = new StoreException("the disk is full", true, null);
    writer.start();
    CompletionStage<Void> stage = writer.submit(one("a"));
    await().until(() -> writer.problem().isPresent());
    assertThat(writer.close(Duration.ofMillis(50))).isFalse();
    assertThatThrownBy(() -> stage.toCompletableFuture().join())
        .hasMessageContaining("changes of 1 tasks could not be saved: the disk is full");
  }

  @Test
  void closing_does_not_wait_for_a_store_that_hangs() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    store.hang = release;
    writer.start();
    CompletionStage<Void> stage = writer.submit(one("a"));
    await().until(() -> store.hanging);
    assertThat(writer.close(Duration.ofMillis(50))).isFalse();
    assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
    release.countDown();
    await().until(() -> writer.queueLength() == 0);
  }

  @Test
  void nothing_is_accepted_after_closing() {
    assertThat(writer.close(Duration.ofSeconds(1))).isTrue();
    assertThat(writer.submit(one("a")).toCompletableFuture()).isCompletedExceptionally();
    assertThatThrownBy(writer::start).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void without_a_thread_closing_commits_what_is_queued() {
    for (int i = 0; i < 20; i++) {
      writer.submit(one("n" + i));
    }
    assertThat(writer.close(Duration.ofSeconds(1))).isTrue();
    assertThat(loaded()).hasSize(20);
  }

  private static void sneaky(String message) {
    throw new IllegalStateException(message);
  }

  private List<StatusRow> loaded() {
    List<StatusRow> rows = new ArrayList<>();
    store.load("j", rows::add);
    return rows;
  }

  private static StoreTransaction one(String node) {
    return StoreTransaction.of(List.of(row(node, 1)));
  }

  private static StatusRow row(String node, int attempts) {
    return new StatusRow("j", node, TaskStatus.of(Main.DONE, 0, attempts), new Invocation(1, 1, 0));
  }
}
