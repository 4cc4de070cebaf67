package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.outcome.JobState;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * The scheduler dies between any two batches of the store: what failed a job and that it has failed
 * are there together, or neither is.
 */
final class CrashPointsTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"a": [], "b": [], "c": [], "d": [], "e": [], "f": []}}]},
         "resources": {"instance": {"slots": {"default": 1, "limit": 3}}},
         "backoff": [1, 2, "fail"]},
       "bistro_job->j": {"owner": "o", "fail_job_when": {"failed_tasks": 2}}}
      """;

  private LoopWorld world = new LoopWorld();

  /** A life with two failures among other ends; the store does not answer. */
  private void liveWithoutAnswers() {
    world = new LoopWorld();
    world.configure(CONFIG);
    assertThat(world.running).hasSize(3);
    world.storeAnswers = false;
    for (String end : List.of("b done", "a failed", "c failed")) {
      world.writes("j", end.substring(0, 1), end.substring(2));
      world.advance(50);
    }
    world.advance(1_000);
  }

  private List<String> failed() {
    List<String> failed = new ArrayList<>();
    for (String node : List.of("a", "b", "c", "d", "e", "f")) {
      if (world.stored.containsKey(new TaskKey("j", node))
          && world.row("j", node).status().label() == StatusLabel.FAILED) {
        failed.add(node);
      }
    }
    return failed;
  }

  @Test
  void aJobHasFailedExactlyWhenWhatFailedItIsStored() {
    liveWithoutAnswers();
    int batches = world.unansweredCount();
    assertThat(batches).as("each end is a batch of its own here").isGreaterThanOrEqualTo(3);
    List<Integer> failuresAt = new ArrayList<>();
    for (int answered = 0; answered <= batches; answered++) {
      liveWithoutAnswers();
      for (int i = 0; i < answered; i++) {
        world.commitsOne();
      }
      boolean isFailed = failed().size() >= 2;
      failuresAt.add(failed().size());
      assertThat(
              world.jobStates.containsKey("j")
                  && Objects.requireNonNull(world.jobStates.get("j")).state() == JobState.FAILED)
          .as("stored as failed after %d of %d batches, with %s", answered, batches, failed())
          .isEqualTo(isFailed);
      int launches = world.launches.size();
      world.storeAnswers = true;
      world.crashAndRestart();
      world.configure(CONFIG);
      world.advance(5_000);
      JobState state =
          Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get("j")).state();
      assertThat(state == JobState.FAILED).isEqualTo(isFailed);
      if (isFailed) {
        assertThat(world.launches).as("a failed job starts nothing").hasSize(launches);
      } else {
        assertThat(world.running).as("what was not stored runs again").hasSize(3);
        assertThat(world.running.keySet()).noneMatch(task -> failed().contains(task.node()));
        world.writes("j", world.running.keySet().iterator().next().node(), "failed");
        boolean isSecond = failed().size() == 2;
        world.advance(1_000);
        assertThat(
                Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get("j"))
                        .state()
                    == JobState.FAILED)
            .as("what was stored before counts")
            .isEqualTo(isSecond);
      }
      world.core.verify();
    }
    assertThat(failuresAt).contains(0, 1, 2).isSorted();
  }
}
