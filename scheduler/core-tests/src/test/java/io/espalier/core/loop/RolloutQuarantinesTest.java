package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.outcome.JobState;
import io.espalier.core.rollout.Rollout.Phase;
import io.espalier.core.status.store.Quarantine;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Roll-outs of which a part is in quarantine (docs/adr/0079-staged-rollouts.md). */
class RolloutQuarantinesTest extends StagedLoop {
  @Test
  void tasksOfAQuarantinedHostAreNoPartOfTheSample() {
    String config =
        config(
            "\"stages\": [16, \"100%\"], \"spread\": \"host\","
                + " \"fail_when\": {\"failed_percent\": 5, \"min_samples\": 20}");
    world.configure(config);
    for (String node : running()) {
      if (node.startsWith("h3")) {
        world.writes("j", node, "error");
      }
    }
    assertThat(rollout().failed()).isEqualTo(2);
    Quarantine.Key host = new Quarantine.Key("host", "h3", "");
    world.done(new Command.SetQuarantine(host, "ann", "disk errors"));
    assertThat(rollout().counted()).isZero();
    assertThat(rollout().failed()).isZero();
    world.advance(2_000);
    world.crashAndRestart();
    world.configure(config);
    endAll("done");
    world.advance(1_000);
    assertThat(rollout().stage()).isEqualTo(1);
    assertThat(hosts()).hasSize(7).doesNotContain("h3");
    endAll("done");
    world.advance(1_000);
    assertThat(rollout().phase()).as("the last stage waits for all").isEqualTo(Phase.RUNNING);
    world.done(new Command.LiftQuarantine(host, "ann", ""));
    assertThat(running()).hasSize(5);
    endAll("done");
    world.advance(1_000);
    assertThat(rollout().phase()).isEqualTo(Phase.PASSED);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    world.core.verify();
  }

  @Test
  void aStageOfWhichAllIsInQuarantineWaits() {
    world.configure(config("\"stages\": [1, \"100%\"]"));
    String only = running().get(0);
    Quarantine.Key host = new Quarantine.Key("host", only.substring(0, 2), "j");
    world.done(new Command.SetQuarantine(host, "ann", ""));
    world.writes("j", only, "error");
    world.advance(3_600_000);
    assertThat(rollout().stage()).isZero();
    assertThat(rollout().counted()).isZero();
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
    world.done(new Command.Promote("j", "ann", ""));
    assertThat(running()).hasSize(35);
    world.core.verify();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStageOfWhichMoreThanAFifthIsInQuarantineWaitsForAPerson(boolean isLifted) {
    String config = config("\"stages\": [8, \"100%\"], \"spread\": \"host\", \"soak\": \"10m\"");
    world.configure(config);
    for (String host : List.of("h1", "h2")) {
      String task = running().stream().filter(n -> n.startsWith(host)).findFirst().orElseThrow();
      world.writes("j", task, host.equals("h1") ? "error" : "failed");
      world.done(new Command.SetQuarantine(new Quarantine.Key("host", host, "j"), "ann", ""));
    }
    endAll("done");
    world.advance(500_000);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    world.advance(100_000);
    assertThat(rollout().phase()).isEqualTo(Phase.WAITING);
    world.crashAndRestart();
    world.configure(config);
    world.advance(3_600_000);
    assertThat(running()).isEmpty();
    assertThat(rollout().reason())
        .isEqualTo("2 of 8 tasks of stage 1 are in quarantine, and at most 20 % may be");
    assertThat(waits(untried()))
        .endsWith(
            "opens when somebody promotes the job or lifts the quarantine: " + rollout().reason());
    assertThat(events()).as("it has not passed").containsExactly("rollout_stage_opened");
    if (isLifted) {
      world.done(new Command.LiftQuarantine(new Quarantine.Key("host", "h2", "j"), "ann", ""));
      assertThat(running()).as("all but those of h1").hasSize(28);
      assertThat(rollout().reason()).isEmpty();
    } else {
      world.done(new Command.Promote("j", "ann", "it is enough"));
      assertThat(running()).as("all but those of h1 and h2").hasSize(24);
    }
    assertThat(rollout().stage()).isEqualTo(1);
    world.core.verify();
  }
}
