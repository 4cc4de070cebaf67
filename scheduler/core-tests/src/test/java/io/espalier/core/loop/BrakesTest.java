package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Brakes of operators, while all goes on (docs/adr/0067-brakes.md). */
class BrakesTest extends BrakedLoop {
  private void refused(CompletionStage<?> stage, String says) {
    world.settle();
    assertThatThrownBy(() -> stage.toCompletableFuture().join()).hasMessageContaining(says);
  }

  private int left(Brake.Key key) {
    return Objects.requireNonNull(world.view).brakes().stream()
        .filter(brake -> brake.brake().key().equals(key))
        .mapToInt(BrakeView::millionths)
        .findFirst()
        .orElse(Brake.ONE);
  }

  // ---- a stop

  @Test
  void nothingStartsWithABrakeThatIsSetBeforeTheFirstConfiguration() {
    CompletionStage<BrakeView> paused = brake(ALL, 0, 0, null);
    world.configure(TWO_HOSTS);
    assertThat(world.done(paused).durable()).isTrue();
    assertThat(world.running).isEmpty();
    assertThat(world.newest("brake_set").data().get("target")).isEqualTo(Json.of("all"));
    release(ALL, null);
    assertThat(running("j")).isEqualTo(4);
  }

  @Test
  void nothingStartsAnywhereEvenWithoutResourcesAndNothingIsKilled() {
    world.configure(TWO_HOSTS);
    assertThat(running("j")).isEqualTo(4);
    assertThat(running("free")).isEqualTo(6);
    brake(ALL, 0);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    world.advance(60_000);
    assertThat(world.running).isEmpty();
    assertThat(world.kills).isEmpty();
    assertThat(world.newest("brake_set").data().get("reason"))
        .isEqualTo(Json.of("the network is down"));
    assertThat(release(ALL, null).millionths()).isEqualTo(Brake.ONE);
    assertThat(running("j")).isEqualTo(4);
    assertThat(running("free")).isEqualTo(6);
    assertThat(world.newest("brake_released").data().get("author")).isEqualTo(Json.of("bob"));
    assertThat(world.brakes).isEmpty();
    world.core.verify();
  }

  @Test
  void aNodeAQueueASetAndAJobStopOnTheirOwn() {
    world.configure(TWO_HOSTS);
    brake(new Brake.Key(Target.NODE, "", "h1"), 0);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    assertThat(running("j", "d", "e", "f")).isEqualTo(2).isEqualTo(running("j"));
    assertThat(running("free")).isEqualTo(3);
    release(H1, null);
    for (Brake.Key key :
        List.of(new Brake.Key(Target.QUEUE, "", "q"), new Brake.Key(Target.SET, "", "s"))) {
      brake(key, 0);
      endAll("j", "incomplete");
      endAll("free", "incomplete");
      assertThat(world.running).as(key.toString()).isEmpty();
      release(key, null);
      assertThat(world.running).as(key.toString()).hasSize(10);
    }
    brake(new Brake.Key(Target.JOB, "", "free"), 0);
    endAll("free", "incomplete");
    assertThat(running("free")).isZero();
    assertThat(running("j")).isEqualTo(4);
    world.core.verify();
  }

  @Test
  void whatComesLaterIsBrakedToo() {
    world.configure(TWO_HOSTS.replace("\"f\"]", "\"f\"], \"h3\": []"));
    brake(new Brake.Key(Target.QUEUE, "", "q"), 0);
    brake(new Brake.Key(Target.NODE, "host", "h3"), 0);
    world.configure(
        TWO_HOSTS
            .replace("\"f\"]", "\"f\"], \"h3\": [\"g\"]")
            .replace(
                "\"bistro_job->free\"",
                "\"bistro_job->new\": {\"owner\": \"o\", \"queue\": \"q\", \"command\": [\"x\"]},"
                    + "\"bistro_job->other\": {\"owner\": \"o\", \"command\": [\"x\"],"
                    + " \"resources\": {\"slots\": 0}}, \"bistro_job->free\""));
    assertThat(running("new")).isZero();
    assertThat(running("other")).isEqualTo(6);
    assertThat(running("other", "g")).isZero();
    release(new Brake.Key(Target.NODE, "host", "h3"), null);
    assertThat(running("other", "g")).isEqualTo(1);
    world.core.verify();
  }

  /** The limits of many nodes change in slices; until then nothing may start on any of them. */
  @Test
  void fromAStopToAShareNothingStartsUnderWholeLimits() {
    int hosts = 10_000;
    brakeBeforeAnythingStarts(hosts, jobs(4));
    brake(ALL, 0.25);
    world.advance(5_000);
    assertThat(world.launches).hasSize(hosts);
    world.core.verify();
  }

  private void brakeBeforeAnythingStarts(int hosts, String jobs) {
    world.configure(manyHosts(hosts, 4, false, jobs));
    brake(ALL, 0);
    world.configure(manyHosts(hosts, 4, true, jobs));
    assertThat(world.launches).isEmpty();
  }

  @Test
  void aBrakeIsReleasedThoughItsNodeIsGone() {
    world.configure(TWO_HOSTS);
    brake(H1, 0);
    world.configure(TWO_HOSTS.replace("\"h1\": [", "\"h9\": ["));
    assertThat(release(new Brake.Key(Target.NODE, "", "h1"), null).millionths())
        .isEqualTo(Brake.ONE);
    assertThat(world.brakes).isEmpty();
    world.core.verify();
  }

  @Test
  void itSurvivesACrashAndASecondOneReplacesIt() {
    world.configure(TWO_HOSTS);
    brake(ALL, 0);
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(running("j") + running("free")).isZero();
    assertThat(Objects.requireNonNull(world.view).brakes())
        .singleElement()
        .satisfies(
            view -> {
              assertThat(view.brake().author()).isEqualTo("ann");
              assertThat(view.brake().reason()).isEqualTo("the network is down");
            });
    brake(ALL, 0.5);
    assertThat(running("j", "a", "b", "c")).isEqualTo(1);
    assertThat(world.brakes).hasSize(1);
    world.core.verify();
  }

  /** The starts of a step wait for the store; the brake is faster. */
  @Test
  void aStartThatIsNotDurableYetIsTakenBackAndCostsNoAttempt() {
    world.configure(TWO_HOSTS);
    endAll("j", "done");
    world.storeAnswers = false;
    world.writes("free", "a", "incomplete");
    assertThat(world.running).doesNotContainKey(new TaskKey("free", "a"));
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    world.settle();
    int launched = world.launches.size();
    world.storeAnswers();
    assertThat(world.done(set).durable()).isTrue();
    assertThat(world.launches).hasSize(launched);
    assertThat(world.running).doesNotContainKey(new TaskKey("free", "a"));
    release(ALL, null);
    world.advance(5_000);
    assertThat(world.running).containsKey(new TaskKey("free", "a"));
    assertThat(world.launch("free", "a").attempt()).isEqualTo(2);
    world.core.verify();
  }

  @Test
  void whileTheStoreIsAwayItIsInForceAndTheAnswerSaysThatItIsNotDurable() {
    world.configure(TWO_HOSTS);
    world.storeAnswers = false;
    CompletionStage<BrakeView> set = brake(ALL, 0, 0, null);
    world.settle();
    world.advance(900);
    assertThat(set.toCompletableFuture()).isNotDone();
    world.advance(100);
    assertThat(world.done(set).durable()).isFalse();
    world.storeAnswers();
    assertThat(world.brakes).containsKey(ALL);
  }

  // ---- less

  @Test
  void aFactorLeavesACeilingOfEachLimitAndTheSmallestCounts() {
    world.configure(TWO_HOSTS.replace("\"limit\": 2", "\"limit\": 3"));
    brake(H1, 0.5);
    endAll("j", "incomplete");
    assertThat(running("j", "a", "b", "c")).isEqualTo(2);
    assertThat(running("j", "d", "e", "f")).isEqualTo(3);
    brake(ALL, 0.3);
    endAll("j", "incomplete");
    assertThat(running("j", "a", "b", "c")).isEqualTo(1);
    release(ALL, null);
    assertThat(running("j", "a", "b", "c")).isEqualTo(2);
    world.core.verify();
  }

  @Test
  void aJobKeepsAShareOfItsCapOrOfWhatRan() {
    world.configure(TWO_HOSTS);
    brake(new Brake.Key(Target.JOB, "", "free"), 0.5);
    endAll("free", "incomplete");
    assertThat(running("free")).isEqualTo(3);
    assertThat(world.core.tasks().explain("free", "f").reasons())
        .extracting(Explanation.Reason::kind)
        .contains(Explanation.Kind.MAX_CONCURRENT);
    world.configure(TWO_HOSTS.replace("\"slots\": 0}", "\"slots\": 0}, \"max_concurrent\": 4"));
    endAll("free", "incomplete");
    assertThat(running("free")).isEqualTo(2);
    world.core.verify();
  }

  @Test
  void aQueueKeepsAShareOfWhatRanAndEachJobOfASetToo() {
    world.configure(TWO_HOSTS);
    brake(new Brake.Key(Target.QUEUE, "", "q"), 0.25);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    assertThat(world.running).hasSize(3);
    release(new Brake.Key(Target.QUEUE, "", "q"), null);
    assertThat(world.running).hasSize(10);
    brake(new Brake.Key(Target.SET, "", "s"), 0.5);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    assertThat(running("j")).isEqualTo(2);
    assertThat(running("free")).isEqualTo(3);
    world.core.verify();
  }

  // ---- running tasks

  private void throttle(Brake.Key key, double factor, long millis, Brake.@Nullable Ramp ramp) {
    int millionths = (int) Math.round(factor * Brake.ONE);
    Brake brake = Brake.of(key, millionths).ramp(ramp).author("ann").reason("slow").build();
    world.done(new Command.SetBrake(brake.withThrottlesRunning(true), millis));
    world.advance(1_100);
  }

  private List<String> throttles() {
    List<String> told = world.throttles.stream().sorted().toList();
    world.throttles.clear();
    return told;
  }

  @Test
  void runningTasksAreToldAndOnlyThoseBelowTheBrakeAndOnlyIfThatIsWanted() {
    world.configure(TWO_HOSTS);
    brake(ALL, 0.5);
    world.advance(5_000);
    assertThat(throttles()).isEmpty();
    throttle(H1, 0.25, 0, null);
    assertThat(throttles())
        .containsExactly(
            "a 0.25 brake on host h1: slow",
            "a 0.25 brake on host h1: slow",
            "b 0.25 brake on host h1: slow",
            "b 0.25 brake on host h1: slow",
            "c 0.25 brake on host h1: slow");
    assertThat(world.newest("brake_set").data().get("throttle_running")).isEqualTo(Json.Bool.TRUE);
    assertThat(Objects.requireNonNull(world.view).running())
        .filteredOn(task -> task.throttle() != null)
        .extracting(task -> task.node() + " " + task.throttle())
        .hasSize(5)
        .contains("c " + new Throttle(0.25, "brake on host h1: slow"));
    throttle(new Brake.Key(Target.SET, "", "s"), 0, 0, null);
    assertThat(throttles()).hasSize(10).allMatch(told -> told.endsWith("0 brake on set s: slow"));
    release(new Brake.Key(Target.SET, "", "s"), null);
    world.advance(1_100);
    assertThat(throttles())
        .hasSize(10)
        .filteredOn(told -> told.endsWith(" 1"))
        .as("h2 is at full speed, h1 has its brake still")
        .hasSize(5);
    release(H1, null);
    world.advance(1_100);
    assertThat(throttles()).hasSize(5).allMatch(told -> told.endsWith(" 1"));
    world.advance(60_000);
    assertThat(throttles()).isEmpty();
  }

  @Test
  void theRatioRisesWithTheRampAndWhatStartsMeanwhileIsToldToo() {
    world.configure(TWO_HOSTS);
    throttle(new Brake.Key(Target.JOB, "", "j"), 0.25, 10_000, new Brake.Ramp(500_000, 20_000));
    assertThat(throttles()).hasSize(4).allMatch(told -> told.contains(" 0.25 "));
    world.advance(10_000);
    world.advance(1_100);
    assertThat(throttles()).hasSize(4).allMatch(told -> told.contains(" 0.75 "));
    world.writes("j", "a", "done");
    world.writes("j", "b", "done");
    world.advance(1_100);
    assertThat(throttles()).containsExactly("c 0.75 brake on job j: slow");
    world.advance(20_000);
    world.advance(1_100);
    assertThat(throttles()).hasSize(3).allMatch(told -> told.endsWith(" 1"));
  }

  @Test
  void itSurvivesARestartAndOneThatEndsMeanwhileIsTakenBack() {
    world.isRemote = true;
    world.configure(TWO_HOSTS);
    throttle(ALL, 0, 20_000, null);
    assertThat(throttles()).hasSize(10);
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    world.advance(1_100);
    assertThat(throttles())
        .hasSize(10)
        .allMatch(told -> told.endsWith(" 0 brake on everything: slow"));
    world.crashAndRestart();
    world.now += 20_000;
    world.configure(TWO_HOSTS);
    world.advance(1_100);
    assertThat(throttles()).filteredOn(told -> told.endsWith(" 1")).hasSize(10);
  }

  // ---- the end

  @Test
  void itEndsByItselfAndThenByItsRampAlsoOverARestart() {
    world.configure(TWO_HOSTS.replace("\"limit\": 2", "\"limit\": 3"));
    world.done(brake(ALL, 0, 60_000, new Brake.Ramp(Brake.ONE / 4, 10_000)));
    endAll("j", "incomplete");
    world.advance(54_999);
    assertThat(running("j")).isZero();
    world.advance(1);
    assertThat(running("j", "a", "b", "c")).isEqualTo(1);
    assertThat(world.newest("brake_released").data().get("factor")).isEqualTo(Json.of(0.25));
    world.crashAndRestart();
    world.advance(10_000);
    world.configure(TWO_HOSTS.replace("\"limit\": 2", "\"limit\": 3"));
    world.advance(200);
    assertThat(left(ALL)).isEqualTo(Brake.ONE / 2);
    assertThat(running("j", "a", "b", "c")).isEqualTo(2);
    world.advance(20_000);
    assertThat(running("j", "a", "b", "c")).isEqualTo(3);
    assertThat(world.brakes).isEmpty();
    world.core.verify();
  }

  @Test
  void aReleaseThatIsUnderWayIsNotBegunAnew() {
    world.configure(TWO_HOSTS);
    world.done(brake(ALL, 0, 0, new Brake.Ramp(Brake.ONE / 4, 10_000)));
    assertThat(release(ALL, null).millionths()).isEqualTo(Brake.ONE / 4);
    world.advance(10_000);
    assertThat(release(ALL, null).millionths()).isEqualTo(Brake.ONE / 2);
    assertThat(release(ALL, new Brake.Ramp(Brake.ONE / 10, 1_000)).millionths())
        .isEqualTo(Brake.ONE * 6 / 10);
    assertThat(release(ALL, new Brake.Ramp(Brake.ONE, 1_000)).millionths()).isEqualTo(Brake.ONE);
    assertThat(world.brakes).isEmpty();
  }

  @Test
  void aBrakeWhoseTimeEndedWhileTheSchedulerWasAwayIsOver() {
    world.configure(TWO_HOSTS);
    world.done(brake(ALL, 0, 60_000, null));
    world.crashAndRestart();
    world.now += 60_000;
    world.configure(TWO_HOSTS);
    assertThat(running("free")).isEqualTo(6);
    assertThat(world.brakes).isEmpty();
  }

  // ---- what is said

  @Test
  void explainNamesTheBrakeAndABrakedJobIsNotStuck() {
    world.configure(TWO_HOSTS);
    brake(ALL, 0);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    world.advance(60_000);
    assertThat(world.core.tasks().explain("free", "a").reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Explanation.Kind.BRAKE);
              assertThat(reason.message())
                  .contains("brake")
                  .contains("ann")
                  .contains("the network is down");
            });
    assertThat(Objects.requireNonNull(world.loop.jobStates().get("free")).state())
        .isNotEqualTo(JobState.STUCK);
    release(ALL, null);
    brake(new Brake.Key(Target.QUEUE, "", "q"), 0);
    endAll("j", "incomplete");
    endAll("free", "incomplete");
    world.advance(60_000);
    assertThat(world.core.tasks().explain("free", "a").reasons())
        .extracting(Explanation.Reason::message)
        .anyMatch(message -> message.contains("queue q"));
    assertThat(Objects.requireNonNull(world.loop.jobStates().get("free")).state())
        .isNotEqualTo(JobState.STUCK);
  }

  @Test
  void explainOfABrakedJobNamesTheBrakeItsAuthorAndItsReason() {
    world.configure(TWO_HOSTS);
    endAll("free", "incomplete");
    String by = "a brake stops the job since " + Instant.ofEpochMilli(world.now) + " by ann (";
    brake(new Brake.Key(Target.JOB, "", "free"), 0);
    endAll("free", "incomplete");
    assertThat(world.core.tasks().explain("free", "a").reasons())
        .extracting(Explanation.Reason::message)
        .containsExactly(by + "the network is down)");
    release(new Brake.Key(Target.JOB, "", "free"), null);

    Brake.Key set = new Brake.Key(Target.SET, "", "s");
    endAll("free", "incomplete");
    by = "a brake stops the job since " + Instant.ofEpochMilli(world.now) + " (";
    world.done(new Command.SetBrake(Brake.of(set, 0).build(), 0));
    endAll("free", "incomplete");
    assertThat(world.core.tasks().explain("free", "a").reasons())
        .extracting(Explanation.Reason::message)
        .containsExactly(by + "on set s)");
  }

  @Test
  void whatIsNotThereIsSaidWithAHint() {
    world.configure(TWO_HOSTS);
    refused(brake(new Brake.Key(Target.JOB, "", "fre"), 0, 0, null), "did you mean \"free\"?");
    refused(brake(new Brake.Key(Target.QUEUE, "", "p"), 0, 0, null), "there is no queue \"p\"");
    refused(brake(new Brake.Key(Target.SET, "", "t"), 0, 0, null), "there is no set \"t\"");
    refused(brake(new Brake.Key(Target.NODE, "", "h9"), 0, 0, null), "there is no node \"h9\"");
    refused(
        brake(new Brake.Key(Target.NODE, "db", "h1"), 0, 0, null), "level db has no node \"h1\"");
    refused(
        world.run(new Command.ReleaseBrake(ALL, null, "", "")), "there is no brake on everything");
    assertThat(world.brakes).isEmpty();
  }
}
