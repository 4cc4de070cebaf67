package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How the loop hands the tasks of a batch to the runner, and takes their ends. */
final class BatchLoopTest {
  private final LoopWorld world = new LoopWorld();

  private static String config(int nodes, String capacity, String batch) {
    String names =
        IntStream.rangeClosed(1, nodes)
            .mapToObj(i -> "\"n%03d\": []".formatted(i))
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {"enabled": true, %s "nodes": {"levels": ["host"], "node_order": "lexicographic", "node_sources": [
       {"source": "manual", "prefs": {%s}}]}, "resources": {}},
     "bistro_job->j": {"owner": "o", %s "backoff": [1, "repeat"]}}
    """
        .formatted(capacity, names, batch);
  }

  private static String batched(int nodes, int max) {
    return config(nodes, "", "\"batch\": {\"max\": " + max + ", \"wait\": 0},");
  }

  @Test
  void withoutBatchesEachTaskIsStartedAlone() {
    world.configure(config(5, "", ""));
    assertThat(world.batches).isEmpty();
    assertThat(world.launches).hasSize(5).extracting(LaunchSpec::batch).containsOnly(0L);
  }

  @Test
  void theTasksOfABatchAreHandedOverTogetherAndASingleOneAlone() {
    world.configure(batched(7, 3));
    assertThat(world.batches)
        .containsExactly(List.of("n001", "n002", "n003"), List.of("n004", "n005", "n006"));
    assertThat(world.launches).hasSize(7);
    assertThat(world.launches.stream().map(LaunchSpec::batch).distinct()).hasSize(3);
  }

  @Test
  void theEndOfASliceCutsNoBatch() {
    world.configure(batched(600, 200));
    assertThat(world.batches).extracting(List::size).containsExactly(200, 200, 200);
  }

  @Test
  void theBoundOfTheStartsInFlightCutsABatch() {
    world.confirmsStarts = true;
    world.configure(
        config(
            20, "\"capacity\": {\"max_starting\": 5},", "\"batch\": {\"max\": 10, \"wait\": 0},"));
    assertThat(world.batches).extracting(List::size).containsExactly(5);
    assertThat(world.launches).hasSize(5);
  }

  @Test
  void eachTaskEndsByItselfAndOneThatHasFailedRunsAloneNext() {
    world.configure(batched(3, 3));
    world.writes("j", "n001", "done");
    assertThat(world.done("j")).isEqualTo(1);
    assertThat(world.running).hasSize(2);
    world.end("j", "n002", TaskResult.Kind.EXITED, null, 1);
    // Its worker has not begun it: no attempt, and no reason to be alone.
    world.refuses("j", "n003", "its batch ended before", 0);
    assertThat(world.row("j", "n003").status().attempts()).isZero();
    world.advance(2_000);
    assertThat(world.launch("j", "n002").batch()).isNotEqualTo(world.launch("j", "n003").batch());
    assertThat(world.launch("j", "n002").attempt()).isEqualTo(2);
    assertThat(world.launch("j", "n003").batch()).isNotZero();
    assertThat(world.launch("j", "n003").attempt()).isEqualTo(1);
    assertThat(world.batches).hasSize(1);
  }

  private static String sharing(int nodes, int max) {
    return config(nodes, "", "\"batch\": {\"max\": %d, \"wait\": 0, \"per_batch\": [\"links\"]},")
        .formatted(max)
        .replace(
            "\"resources\": {}",
            "\"resources\": {\"instance\": {\"links\": {\"limit\": 1, \"default\": 1}}}");
  }

  @Test
  void theTasksOfABatchTakeOneSlotAlsoAfterARestart() {
    world.isRemote = true;
    world.configure(sharing(5, 3));
    assertThat(world.batches).containsExactly(List.of("n001", "n002", "n003"));
    String batch = world.launch("j", "n001").invocation().token();
    world.writes("j", "n001", "done");
    assertThat(world.row("j", "n002").batch()).isEqualTo(batch);

    world.crashAndRestart();
    world.configure(sharing(5, 3));
    assertThat(Objects.requireNonNull(explained("n003").running()).batch()).isEqualTo(batch);
    assertThat(freeLinks()).isZero();
    world.writes("j", "n002", "done");
    assertThat(freeLinks()).as("the last task of the batch has it").isZero();
    world.writes("j", "n003", "done");
    assertThat(freeLinks()).isEqualTo(1);
    assertThat(world.row("j", "n003").batch()).isEmpty();
  }

  private int freeLinks() {
    return world.core.capacity().free(0, 0);
  }

  @Test
  void aBatchThatSharesNothingLeavesNoTraceInTheStore() {
    world.configure(batched(2, 2));
    assertThat(world.row("j", "n001").batch()).isEmpty();
  }

  private Explanation explained(String node) {
    CompletableFuture<Explanation> asked =
        world.ask(new Query.Explain("j", node)).toCompletableFuture();
    world.settle();
    return asked.join();
  }

  @Test
  void explainTellsUntilWhenATaskWaitsForItsBatchAndThenWhichBatchItIsOf() {
    world.configure(config(3, "", "\"batch\": {\"max\": 2, \"wait\": 2},"));
    Explanation waits = explained("n003");
    assertThat(waits.startable()).isFalse();
    assertThat(waits.reasons())
        .containsExactly(
            Explanation.Reason.of(
                    Explanation.Kind.BATCH, null, "the task waits for more tasks of its batch")
                .until(world.now + 2_000));
    world.advance(2_000);
    assertThat(world.running).hasSize(3);
    String first = world.launch("j", "n001").invocation().token();
    for (String node : List.of("n001", "n002")) {
      assertThat(Objects.requireNonNull(explained(node).running()).batch()).isEqualTo(first);
    }
    assertThat(Objects.requireNonNull(explained("n003").running()).batch())
        .isEqualTo(world.launch("j", "n003").invocation().token());
    // The batch keeps its name when its first task has ended.
    world.writes("j", "n001", "done");
    assertThat(Objects.requireNonNull(explained("n002").running()).batch()).isEqualTo(first);
  }

  @Test
  void aTaskOfAJobWithoutBatchesIsOfNone() {
    world.configure(config(1, "", ""));
    assertThat(Objects.requireNonNull(explained("n001").running()).batch()).isEmpty();
  }
}
