package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.BrakeView;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What brakes take back that was handed to workers before (docs/adr/0067-brakes.md). */
class BrakeRecallsTest extends BrakedLoop {
  private void confirmRecalls() {
    world.post(new LoopInput.Recalled(world.recalls.stream().map(LaunchSpec::invocation).toList()));
  }

  @Test
  void theAnswerWaitsForTheWorkersThatMayHaveBegunNothing() {
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    CompletionStage<BrakeView> set = brake(H1, 0, 0, null);
    world.settle();
    assertThat(set.toCompletableFuture()).isNotDone();
    assertThat(world.recalls)
        .extracting(LaunchSpec::node)
        .containsExactlyInAnyOrder("a", "b", "a", "b", "c");
    confirmRecalls();
    assertThat(world.done(set).unconfirmed()).isEmpty();
    assertThat(world.done(set).durable()).isTrue();
  }

  @Test
  void whatIsRecalledCostsNoAttemptAndIsNotWaitedFor() {
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    CompletionStage<BrakeView> set = brake(new Brake.Key(Target.JOB, "", "free"), 0, 0, null);
    world.settle();
    for (String node : List.of("a", "b", "c", "d", "e", "f")) {
      assertThat(set.toCompletableFuture()).isNotDone();
      world.refuses("free", node, "it was recalled", 0);
    }
    assertThat(world.done(set).unconfirmed()).isEmpty();
    assertThat(running("free")).isZero();
    release(new Brake.Key(Target.JOB, "", "free"), null);
    world.advance(5_000);
    assertThat(running("free")).isEqualTo(6);
    assertThat(world.launch("free", "a").attempt()).isEqualTo(1);
    world.core.verify();
  }

  @Test
  void afterASecondTheAnswerListsTheWorkersThatHaveNotConfirmed() {
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    world.settle();
    world.advance(999);
    assertThat(set.toCompletableFuture()).isNotDone();
    world.advance(1);
    assertThat(world.done(set).durable()).isTrue();
    assertThat(world.done(set).unconfirmed()).containsExactly("shard");
    world.advance(200);
    assertThat(unconfirmed()).containsExactly("shard");
    confirmRecalls();
    world.settle();
    world.advance(200);
    assertThat(unconfirmed()).as("the view follows").isEmpty();
  }

  @Test
  void aBrakeThatLeavesAShareTakesNothingBackAndNeitherDoesOneThatIsReplacedByIt() {
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    brake(ALL, 0.5);
    assertThat(world.recalls).isEmpty();
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    world.settle();
    brake(ALL, 0.25);
    assertThat(world.done(set).unconfirmed()).isEmpty();
  }

  @Test
  void aSchedulerThatTakesOverRecallsWhatTheOneBeforeHadHandedOver() {
    world.isRemote = true;
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    CompletionStage<BrakeView> set = brake(new Brake.Key(Target.SET, "", "s"), 0, 0, null);
    world.settle();
    assertThat(set.toCompletableFuture()).isNotDone();
    world.recalls.clear();
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(world.recalls).hasSize(10);
    world.advance(200);
    assertThat(unconfirmed()).hasSize(1);
    confirmRecalls();
    world.settle();
    world.advance(200);
    assertThat(unconfirmed()).isEmpty();
  }

  /** A worker that is lost confirms nothing: what it was given is over when its lease has ended. */
  @Test
  void aBrakeIsConfirmedOnceTheTasksOfALostWorkerAreOver() {
    world.takesBack = true;
    world.configure(TWO_HOSTS);
    CompletionStage<BrakeView> set = brake(H1, 0, 0, null);
    world.settle();
    List<TaskKey> recalled =
        world.recalls.stream().map(task -> new TaskKey(task.job(), task.node())).toList();
    assertThat(recalled).hasSize(5);
    for (TaskKey task : recalled) {
      assertThat(set.toCompletableFuture()).isNotDone();
      world.end(task.job(), task.node(), TaskResult.Kind.LOST, null, null);
    }
    assertThat(world.done(set).unconfirmed()).isEmpty();
    world.advance(200);
    assertThat(unconfirmed()).isEmpty();
  }

  /** What many tasks cost is spread over steps: each looks at 2,000 of them at most. */
  @Test
  void manyTasksAreRecalledInSlicesAndTheBrakeIsConfirmedAfterTheLastOne() {
    int hosts = 3_000;
    world.takesBack = true;
    world.configure(manyHosts(hosts, 8, true, jobs(8)));
    assertThat(world.running).hasSize(8 * hosts);
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    int steps = 0;
    for (int before = 0; before < 8 * hosts; before = world.recalls.size()) {
      assertThat(world.step()).isZero();
      assertThat(world.recalls.size() - before).isLessThanOrEqualTo(2_000);
      // Whatever is recalled is confirmed at once; what was not looked at is not.
      world.post(
          new LoopInput.Recalled(
              world.recalls.subList(before, world.recalls.size()).stream()
                  .map(LaunchSpec::invocation)
                  .toList()));
      assertThat(set.toCompletableFuture()).isNotDone();
      steps++;
    }
    assertThat(steps).isGreaterThanOrEqualTo(8 * hosts / 2_000);
    assertThat(world.done(set).unconfirmed()).isEmpty();
    assertThat(world.launches).hasSize(8 * hosts);
  }

  @Test
  void whileARecallIsUnderWayEveryWorkerCountsAsUnconfirmed() {
    int hosts = 3_000;
    world.configure(
        manyHosts(hosts, 1, true, ", \"bistro_job->j\": {\"owner\": \"o\", \"command\": [\"x\"]}"));
    world.advance(200);
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    world.step();
    assertThat(world.recalls).hasSize(2_000);
    world.now += 1_000;
    world.step();
    assertThat(set.toCompletableFuture())
        .isCompletedWithValueMatching(view -> view.unconfirmed().equals(List.of("shard")));
    world.advance(200);
    assertThat(world.recalls).hasSize(hosts);
    assertThat(unconfirmed()).as("this runner takes nothing back").isEmpty();
  }
}
