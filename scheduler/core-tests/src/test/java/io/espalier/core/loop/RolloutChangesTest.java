package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.rollout.RolloutOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Roll-outs whose job or nodes change meanwhile (docs/adr/0079-staged-rollouts.md). */
class RolloutChangesTest extends StagedLoop {
  @Test
  void nodesThatComeLaterJoinTheLastStage() {
    world.configure(config(STAGES));
    assertThat(running()).hasSize(1);
    perHost = 20;
    world.configure(config(STAGES));
    endAll("done");
    world.advance(600_000);
    assertThat(running()).hasSize(7).noneMatch(node -> node.length() > 4);
    endAll("done");
    world.advance(600_000);
    assertThat(running()).hasSize(152);
    world.core.verify();
  }

  @Test
  void anotherCommandBeginsAgainForWhatIsLeft() {
    world.configure(config(STAGES));
    endAll("done");
    world.advance(600_000);
    endAll("done");
    world.advance(1_000);
    command = "y";
    world.configure(config(STAGES));
    assertThat(rollout().stage()).isZero();
    assertThat(running()).hasSize(1);
    assertThat(rollout().sizes()).containsExactly(1L, 7L, 32L);
  }

  /** Otherwise a change that reaches all jobs goes on in the stages that were opened before it. */
  @Test
  void anotherInheritedEnvironmentBeginsAgain() {
    settings = environment("{\"A\": \"1\", \"B\": \"1\"}", "[\"C\"]");
    ownEnvironment = environment("{\"B\": \"own\"}", null);
    world.configure(config(STAGES));
    endAll("done");
    world.advance(600_000);
    assertThat(rollout().stage()).isEqualTo(1);
    settings = environment("{\"A\": \"1\", \"B\": \"2\"}", "[\"C\"]");
    world.configure(config(STAGES));
    assertThat(rollout().stage()).as("the job has its own B").isEqualTo(1);
    for (String next :
        List.of(
            environment("{\"A\": \"2\", \"B\": \"2\"}", "[\"C\"]"),
            environment("{\"A\": \"2\", \"B\": \"2\"}", "[\"D\"]"))) {
      settings = next;
      world.configure(config(STAGES));
      assertThat(rollout().stage()).as(next).isZero();
      endAll("done");
      world.advance(600_000);
      assertThat(rollout().stage()).isEqualTo(1);
    }
  }

  private static String environment(String set, @Nullable String passed) {
    return ", \"task_subprocess\": {\"environment\": "
        + set
        + (passed == null ? "" : ", \"pass_environment\": " + passed)
        + "}";
  }

  /** A roll-out that an earlier version has stored does not begin again with an upgrade. */
  @Test
  void theFingerprintOfAJobThatInheritsNothingIsThatOfEarlierVersions() {
    ownEnvironment = environment("{\"A\": \"1\"}", "[\"C\"]");
    world.configure(config(STAGES));
    assertThat(rollout().fingerprint())
        .isEqualTo(
            RolloutOrder.hash(
                "j",
                """
                command=["x"]
                call=null
                steps=null
                compensate=null
                config=null
                {"environment":{"A":"1"},"pass_environment":["C"]}
                1 20% 100% -1"""));
  }

  @Test
  void aRollOutGoesOnOverAChangeIfItIsToldTo() {
    String stages = STAGES + ", \"on_change\": \"continue\"";
    world.configure(config(stages));
    endAll("done");
    world.advance(600_000);
    command = "y";
    world.configure(config(stages));
    assertThat(rollout().stage()).isEqualTo(1);
    assertThat(rollout().sizes()).containsExactly(1L, 8L, 40L);
  }

  @Test
  void withoutStagesEverythingStarts() {
    world.configure(config(STAGES));
    assertThat(running()).hasSize(1);
    world.configure(config(""));
    assertThat(running()).hasSize(40);
    assertThat(world.rollouts).isEmpty();
    world.core.verify();
  }
}
