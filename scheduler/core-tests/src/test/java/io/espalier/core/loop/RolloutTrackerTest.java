package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.outcome.JobState;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Quarantine;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Roll-outs in stages, while all goes on (docs/adr/0079-staged-rollouts.md). */
class RolloutTrackerTest extends StagedLoop {
  @Test
  void eachStageStartsWhenTheOneBeforeHasPassedAndSoaked() {
    world.configure(config(STAGES));
    assertThat(running()).hasSize(1);
    assertThat(waits(untried()))
        .endsWith("stage 2 of 3 (20%) opens when stage 1 has passed and soaked for 10 min");
    endAll("done");
    world.advance(599_000);
    assertThat(running()).isEmpty();
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    assertThat(world.loop.isQuiet()).isFalse();
    assertThat(waits(untried())).endsWith("opens when stage 1 has soaked for 10 min");
    world.advance(1_000);
    assertThat(running()).hasSize(7);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endAll("done");
    world.advance(600_000);
    assertThat(running()).hasSize(32);
    endAll("done");
    world.advance(1_000);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(rollout().phase()).isEqualTo(Phase.PASSED);
    assertThat(events())
        .containsExactly(
            "rollout_stage_opened",
            "rollout_stage_passed",
            "rollout_stage_opened",
            "rollout_stage_passed",
            "rollout_stage_opened",
            "rollout_stage_passed");
    world.core.verify();
  }

  @Test
  void aLostWorkerIsNoFailureOfTheChange() {
    world.configure(config(STAGES));
    String node = running().get(0);
    world.ends("j", node, TaskResult.Kind.LOST, null, null);
    world.settle();
    world.advance(2_000);
    assertThat(running()).containsExactly(node);
    assertThat(rollout().failed()).isZero();
    endAll("done");
    assertThat(rollout().counted()).isEqualTo(1);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
  }

  @Test
  void tasksThatWaitForTheirStageAreBlockedAndNotReady() {
    world.configure(config(STAGES));
    assertThat(counts()).containsExactly(0L, 0L, 1L, 39L);
    world.writes("j", running().get(0), "error");
    assertThat(counts()).containsExactly(0L, 0L, 0L, 39L);
    world.advance(1_000);
    endAll("done");
    assertThat(counts()).containsExactly(1L, 0L, 0L, 39L);
    world.done(new Command.Promote("j", "ann", ""));
    assertThat(counts()).containsExactly(1L, 0L, 7L, 32L);
    world.done(new Command.Pause("j", 0, "ann", ""));
    endAll("error");
    world.advance(2_000);
    assertThat(counts()).containsExactly(1L, 0L, 0L, 39L);
    world.done(new Command.Resume("j", "ann", ""));
    world.done(new Command.Promote("j", "ann", ""));
    assertThat(counts()).containsExactly(1L, 0L, 39L, 0L);
  }

  @Test
  void whoAsksWhyTasksWaitIsToldOfTheirStage() {
    world.configure(config(STAGES));
    WaitReasonScan scan = world.core.tasks().waiting(world.core.findJob("j"));
    while (!scan.isDone()) {
      scan.step(100);
    }
    assertThat(scan.reasons(10, 1).reasons())
        .singleElement()
        .satisfies(
            group -> {
              assertThat(group.kind()).isEqualTo("rollout");
              assertThat(group.count()).isEqualTo(39);
              assertThat(group.message())
                  .startsWith("wait for their stage: stage 2 of 3 (20%) opens when");
            });
  }

  /** Done, ready, running and blocked, and the same below the root. */
  private List<Long> counts() {
    JobProgress all = world.core.tasks().progress(world.core.findJob("j"));
    SubtreeCountScan scan = world.core.tasks().counts(world.core.findJob("j"), false);
    scan.begin(0);
    while (!scan.isDone()) {
      scan.step(10);
    }
    TaskCounts below = scan.counts();
    assertThat(List.of(below.done(), below.ready(), below.running(), below.blocked()))
        .containsExactly(all.done(), all.ready(), all.running(), all.blocked());
    return List.of(all.done(), all.ready(), all.running(), all.blocked());
  }

  @Test
  void aStageIsSpreadOverAsManyHostsAsPossible() {
    world.configure(config("\"stages\": [8, 12, \"100%\"], \"spread\": \"host\""));
    assertThat(hosts()).hasSize(8);
    List<String> first = running();
    endAll("done");
    world.advance(1_000);
    assertThat(running()).hasSize(4).doesNotContainAnyElementsOf(first);
    assertThat(hosts()).hasSize(4);
  }

  @Test
  void tooManyFailuresHaltTheJobAndWhatRunsGoesOn() {
    world.configure(config(STAGES));
    endAll("done");
    world.advance(600_000);
    List<String> second = running();
    world.writes("j", second.get(0), "error");
    world.writes("j", second.get(1), "done");
    world.writes("j", second.get(2), "done");
    world.advance(500);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.writes("j", second.get(3), "done");
    world.advance(500);
    assertThat(state()).isEqualTo(JobState.HALTED);
    assertThat(rollout().reason()).isEqualTo("1 of 4 tasks failed, 20 % allowed");
    Rollout halted = world.done(new Command.Halt("j", "ann", "I saw errors"));
    assertThat(halted).as("the verdict of the check").isEqualTo(rollout());
    assertThat(rollout().author()).isEmpty();
    assertThat(world.events).filteredOn(e -> e.kind().equals("rollout_halted")).hasSize(1);
    assertThat(world.kills).isEmpty();
    assertThat(running()).hasSize(3);
    endAll("done");
    world.advance(3_600_000);
    assertThat(running()).isEmpty();
    assertThat(state()).isEqualTo(JobState.HALTED);
    assertThat(waits(second.get(0)))
        .contains("the roll-out is halted")
        .contains("stage 2 of 3 (20%): 1 of 4 tasks failed, 20 % allowed");
    world.done(new Command.Resume("j", "ann", "mended"));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(running()).containsExactly(second.get(0));
    endAll("done");
    world.advance(600_000);
    assertThat(running()).hasSize(32);
  }

  /** A task that fails twice counts once, and so does one that is done after a failure. */
  @Test
  void aTaskCountsOnceAsFailedIfAnyAttemptHasFailed() {
    world.configure(
        config(
            "\"stages\": [4, \"100%\"], \"soak\": 60,"
                + " \"fail_when\": {\"failed_percent\": 25, \"min_samples\": 4}"));
    String bad = running().get(0);
    world.writes("j", bad, "error");
    world.advance(2_000);
    world.writes("j", bad, "error");
    world.advance(2_000);
    assertThat(rollout().counted()).isEqualTo(1);
    assertThat(rollout().failed()).isEqualTo(1);
    endAll("done");
    world.advance(1_000);
    assertThat(rollout().counted()).isEqualTo(4);
    assertThat(rollout().failed()).isEqualTo(1);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
  }

  @Test
  void aPersonOpensTheNextStage() {
    world.configure(config("\"stages\": [1, 3, \"100%\"], \"approve\": true"));
    endAll("done");
    world.advance(1_000);
    assertThat(rollout().phase()).isEqualTo(Phase.WAITING);
    assertThat(world.loop.isQuiet()).isTrue();
    assertThat(state()).isNotEqualTo(JobState.STUCK);
    assertThat(waits(untried())).endsWith("(3) opens when somebody promotes the job");
    world.done(new Command.Promote("j", "ann", "looks good"));
    assertThat(running()).hasSize(2);
    world.done(new Command.Promote("j", "ann", "in a hurry"));
    assertThat(running()).hasSize(39);
    var refused = world.run(new Command.Promote("j", "ann", "")).toCompletableFuture();
    world.settle();
    Assertions.assertThatThrownBy(refused::join)
        .isInstanceOf(CompletionException.class)
        .hasMessageContaining("the roll-out of job j is in its last stage");
  }

  @Test
  void anOperatorHaltsARollOut() {
    world.configure(config(STAGES));
    world.done(new Command.Halt("j", "ann", "lag"));
    assertThat(state()).isEqualTo(JobState.HALTED);
    assertThat(running()).hasSize(1);
    world.done(new Command.Promote("j", "ann", ""));
    assertThat(running()).hasSize(8);
    assertThat(state()).isEqualTo(JobState.RUNNING);
  }

  /** The tasks of a job are visited once per stage, whatever happens in between. */
  @Test
  void noRoundLooksAtTheTasksThatWait() {
    perHost = 50;
    world.configure(config(STAGES));
    long visited = world.core.staged().visited();
    assertThat(visited).isLessThanOrEqualTo(2 * 400);
    endAll("incomplete");
    for (int i = 0; i < 20; i++) {
      world.advance(1_000);
    }
    assertThat(world.core.staged().visited()).isEqualTo(visited);
    endAll("done");
    world.advance(600_000);
    assertThat(running()).hasSize(79);
    assertThat(world.core.staged().visited()).isEqualTo(visited + 400);
  }

  @Test
  void whatOtherJobsDoCostsARollOutNothing() {
    world.configure(
        config(STAGES)
            .replace(
                "\"bistro_job->j\"",
                "\"bistro_job->k\": {\"owner\": \"o\", \"command\": [\"x\"]}, \"bistro_job->j\""));
    assertThat(world.running).hasSize(41);
    long before = world.loop.evaluationsOfRollouts();
    for (int host = 0; host < 8; host++) {
      world.writes("k", "h" + host + "d0", "done");
      world.advance(1_000);
    }
    assertThat(world.running).hasSize(33);
    assertThat(world.loop.evaluationsOfRollouts()).isEqualTo(before);
    String first =
        world.running.keySet().stream()
            .filter(task -> task.job().equals("j"))
            .map(TaskKey::node)
            .findFirst()
            .orElseThrow();
    world.writes("j", first, "done");
    world.advance(1_000);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    assertThat(world.loop.evaluationsOfRollouts()).isBetween(before + 1, before + 3);
  }

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
