package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.running.TaskResult;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A stopped job has all its tasks killed, in slices. */
final class JobStopTest {
  private static final int RUNNING = 2_500;

  private final LoopWorld world = new LoopWorld();

  /** Starts that many tasks of a job that has more, and one of another job. */
  private void start() {
    world.configure(
        """
        {"bistro_settings": {"resources": {}, "nodes": {"levels": ["db"], "node_sources": [
           {"source": "range_label",
            "prefs": {"parent_level": "instance", "start": 1, "end": 3000}}]}},
         "bistro_job->j": {"owner": "o", "command": ["x"], "max_concurrent": %d},
         "bistro_job->other": {"owner": "o", "command": ["x"], "max_concurrent": 1}}
        """
            .formatted(RUNNING));
    assertThat(world.running).hasSize(RUNNING + 1);
  }

  private CompletionStage<Long> stop() {
    return world.run(new Command.Stop("j", "ann", "wrong data"));
  }

  @Test
  void noStepKillsMoreThanItMay() {
    start();
    CompletionStage<Long> stopped = stop();
    int steps = 0;
    for (int before = 0; before < RUNNING; before = world.kills.size()) {
      assertThat(stopped.toCompletableFuture()).isNotDone();
      world.step();
      assertThat(world.kills.size() - before).isBetween(1, 500);
      steps++;
    }
    assertThat(steps).isGreaterThanOrEqualTo(RUNNING / 500);
    world.settle();
    assertThat(stopped.toCompletableFuture()).isCompletedWithValue((long) RUNNING);
    assertThat(world.kills).hasSize(RUNNING).allMatch(kill -> kill.startsWith("j/"));
  }

  @Test
  void aSlowStoreHoldsTheKillsUpAndNotTheScheduler() {
    start();
    world.storeAnswers = false;
    CompletionStage<Long> stopped = stop();
    world.settle();
    assertThat(stopped.toCompletableFuture()).isNotDone();
    world.storeAnswers();
    world.settle();
    assertThat(stopped.toCompletableFuture()).isCompletedWithValue((long) RUNNING);
  }

  @Test
  void whatStartsAfterTheJobWasResumedIsSpared() {
    start();
    CompletionStage<Long> stopped = stop();
    world.step();
    Set<String> killed = new HashSet<>(world.kills);
    assertThat(killed).hasSizeBetween(1, RUNNING - 1);
    String ended =
        world.running.keySet().stream()
            .filter(key -> key.job().equals("j") && !killed.contains("j/" + key.node() + " term"))
            .findFirst()
            .orElseThrow()
            .node();
    var before = Set.copyOf(world.running.keySet());
    world.run(new Command.Resume("j", "ann", "it was right"));
    world.ends("j", ended, TaskResult.Kind.EXITED, "done", 0);
    world.settle();
    assertThat(stopped.toCompletableFuture()).isCompletedWithValue(RUNNING - 1L);
    List<String> started =
        world.running.keySet().stream()
            .filter(key -> !before.contains(key))
            .map(key -> "j/" + key.node() + " term")
            .toList();
    assertThat(started).hasSize(1);
    assertThat(world.kills).doesNotContainAnyElementsOf(started);
  }
}
