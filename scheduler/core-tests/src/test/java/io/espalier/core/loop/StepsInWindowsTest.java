package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.status.StatusLabel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The end of a window while a task with steps runs (docs/windows.md#what-happens-at-the-end,
 * docs/writing-tasks.md#compensation).
 */
class StepsInWindowsTest extends SteppedLoop {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {"h1": []}}]},
         "resources": {},
         "working_wait": 0,
         "backoff": [1, "repeat"]},
       "bistro_job->j": {"owner": "o", "windows": ["20:00-22:00 UTC"], "at_window_end": "%s",
         "steps": [{"name": "dump", "command": ["/dump"]},
           {"name": "ship", "command": ["/ship"], "on_failure": "undo"}],
         "compensate": [{"step": "ship", "command": ["/unship"]},
           {"step": "dump", "command": ["/undump"]}]}}
      """;

  @BeforeEach
  void beforeTheEndOfTheWindow() {
    world.at("2026-11-23T21:00:00Z");
  }

  /** The second step runs when the window closes. */
  private void closesInTheSecondStep(String atWindowEnd) {
    world.configure(CONFIG.formatted(atWindowEnd));
    world.writes("j", "h1", "done");
    assertThat(commands()).containsExactly("/dump", "/ship");
    world.until("2026-11-23T22:00:01Z");
  }

  private void opensAgain() {
    world.until("2026-11-24T20:00:01Z");
  }

  private void isCompensated() {
    assertThat(step()).isEqualTo("compensate ship");
    assertThat(commands()).as("the window is closed").hasSize(2);
    opensAgain();
    assertThat(commands()).containsExactly("/dump", "/ship", "/unship");
    assertThat(step()).isEqualTo("compensate ship");
    world.writes("j", "h1", "done");
    world.writes("j", "h1", "done");
    assertThat(commands()).containsExactly("/dump", "/ship", "/unship", "/undump");
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void aStepThatIsKilledAtTheEndOfItsWindowRunsAgainInTheNextOneAndNothingIsUndone() {
    closesInTheSecondStep("kill");
    assertThat(world.kills).hasSize(1);
    world.end("j", "h1", Kind.KILLED, null, null);
    assertThat(step()).isEqualTo("ship");
    opensAgain();
    assertThat(commands()).containsExactly("/dump", "/ship", "/ship");
    world.writes("j", "h1", "done");
    assertThat(status().label()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void aStepThatWritesThatItHasFailedBeforeItIsKilledIsUndone() {
    closesInTheSecondStep("kill");
    assertThat(world.kills).hasSize(1);
    world.end("j", "h1", Kind.KILLED, "failed", null);
    isCompensated();
  }

  @Test
  void aStepThatSavesItsProgressWhenItIsAskedToRunsAgainInTheNextWindowAndNothingIsUndone() {
    closesInTheSecondStep("ask");
    assertThat(world.throttles).containsExactly("h1 0 window ends");
    assertThat(world.kills).isEmpty();
    world.writes("j", "h1", "incomplete");
    assertThat(commands()).as("the window is closed").hasSize(2);
    opensAgain();
    assertThat(commands()).containsExactly("/dump", "/ship", "/ship");
  }

  @Test
  void aStepThatFailsAfterItWasAskedToPauseIsUndone() {
    closesInTheSecondStep("ask");
    world.writes("j", "h1", "error_backoff");
    isCompensated();
  }

  @ParameterizedTest
  @ValueSource(strings = {"kill", "ask", "finish"})
  void noFurtherStepStartsOnceTheWindowHasClosed(String atWindowEnd) {
    world.configure(CONFIG.formatted(atWindowEnd));
    world.until("2026-11-23T22:00:01Z");
    world.writes("j", "h1", "done");
    assertThat(commands()).containsExactly("/dump");
    opensAgain();
    assertThat(commands()).containsExactly("/dump", "/ship");
  }
}
