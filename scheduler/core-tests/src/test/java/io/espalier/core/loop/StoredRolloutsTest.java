package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.status.store.RolloutRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Roll-outs after a restart, and those that cannot be read (docs/adr/0079-staged-rollouts.md). */
class StoredRolloutsTest extends StagedLoop {
  @Test
  void whatIsStoredOutlivesACrash() {
    String config = config(STAGES);
    world.configure(config);
    endAll("done");
    world.advance(600_000);
    List<String> second = running();
    world.writes("j", second.get(0), "error");
    world.writes("j", second.get(1), "done");
    world.advance(100);
    world.crashAndRestart();
    world.configure(config);
    assertThat(rollout().counted()).isEqualTo(2);
    assertThat(rollout().failed()).isEqualTo(1);
    world.advance(2_000);
    List<String> left = new ArrayList<>(second);
    left.remove(1);
    assertThat(running()).isEqualTo(left);
    world.writes("j", second.get(0), "error");
    world.writes("j", second.get(2), "done");
    world.advance(100);
    assertThat(rollout().counted()).isEqualTo(3);
    world.writes("j", second.get(3), "done");
    world.advance(100);
    assertThat(state()).isEqualTo(JobState.HALTED);
    world.crashAndRestart();
    world.configure(config);
    assertThat(state()).isEqualTo(JobState.HALTED);
    assertThat(running()).isEmpty();
  }

  @Test
  void aRollOutThatCannotBeReadHaltsItsJobUntilItIsResumed() {
    spoilTheRollOut(
        () ->
            world.rollouts.replaceAll(
                (key, row) ->
                    row.part() > 0
                        ? row
                        : new RolloutRow(row.job(), 0, Json.object().put("stages", "?").build())));
    for (int restart = 0; restart < 2; restart++) {
      assertThat(state()).isEqualTo(JobState.HALTED);
      assertThat(running()).isEmpty();
      assertThat(Objects.requireNonNull(world.view).errors().get("rollouts"))
          .startsWith("what is stored of the roll-out of job j cannot be read (")
          .endsWith("when somebody resumes the job");
      assertThat(world.view.rollouts()).isEmpty();
      command = "another does not begin it again";
      world.crashAndRestart();
      world.configure(config(STAGES));
      world.advance(3_600_000);
    }
    var promoted = world.run(new Command.Promote("j", "ann", "")).toCompletableFuture();
    world.settle();
    Assertions.assertThatThrownBy(promoted::join)
        .hasMessageContaining("begins again when the job is resumed");
    world.done(new Command.Resume("j", "ann", ""));
    assertThat(rollout().stage()).isZero();
    assertThat(rollout().sizes()).containsExactly(1L, 7L, 32L);
    assertThat(running()).hasSize(1);
    assertThat(Objects.requireNonNull(world.view).errors()).isEmpty();
    world.crashAndRestart();
    world.configure(config(STAGES));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(rollout().sizes()).containsExactly(1L, 7L, 32L);
    world.core.verify();
  }

  /** Without its members the open stage would be empty, and would pass. */
  @Test
  void aRollOutWithoutItsMembersHaltsItsJob() {
    spoilTheRollOut(() -> world.rollouts.keySet().removeIf(key -> key.part() > 0));
    assertThat(state()).isEqualTo(JobState.HALTED);
    world.advance(3_600_000);
    assertThat(running()).isEmpty();
    assertThat(Objects.requireNonNull(world.view).errors().get("rollouts"))
        .contains("(0 of the 8 tasks of its stages are there)");
  }

  @Test
  void aRollOutOfWhichOnlyMembersAreLeftHaltsItsJob() {
    spoilTheRollOut(() -> world.rollouts.keySet().removeIf(key -> key.part() == 0));
    assertThat(state()).isEqualTo(JobState.HALTED);
    assertThat(running()).isEmpty();
    world.configure(config(""));
    assertThat(running()).as("the job has no stages any more").hasSize(32);
    assertThat(world.rollouts).isEmpty();
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).isEmpty();
  }

  /** Runs two stages to their end, and restarts with another content of the store. */
  private void spoilTheRollOut(Runnable spoil) {
    world.configure(config(STAGES));
    endAll("done");
    world.advance(600_000);
    assertThat(rollout().stage()).isEqualTo(1);
    endAll("done");
    world.advance(1_000);
    spoil.run();
    world.crashAndRestart();
    world.configure(config(STAGES));
    world.advance(1_000);
  }
}
