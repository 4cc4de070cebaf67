package io.espalier.testkit.running;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of every {@link TaskRunner}. */
public abstract class TaskRunnerContract {
  protected final CollectedEnds ends = new CollectedEnds();
  private TaskRunner runner;

  /** Returns a new runner, not yet open. */
  protected abstract TaskRunner create() throws Exception;

  /** Returns a new launch of a task that soon ends by itself with the status {@code done}. */
  protected abstract LaunchSpec quick(String node);

  @SuppressWarnings("NullAway.Init")
  protected TaskRunnerContract() {}

  @BeforeEach
  void createAndOpen() throws Exception {
    runner = create();
    runner.open(ends);
  }

  @AfterEach
  void close() {
    runner.close();
  }

  protected final TaskRunner runner() {
    return runner;
  }

  @Test
  void everyStartHasExactlyOneEnd() {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      launches.add(quick("node" + i));
    }
    launches.forEach(runner::start);
    ends.awaitCount(50);
    runner.close();
    assertThat(launches).allSatisfy(launch -> assertThat(ends.of(launch)).hasSize(1));
    assertThat(ends.all()).hasSize(50);
  }

  @Test
  void startsAreConfirmedOnceIfThatIsWanted() {
    LaunchSpec before = quick("before");
    runner.start(before);
    ends.await(before);
    assertThat(ends.started()).isEmpty();
    boolean confirms = runner.confirmStarts(true);
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      launches.add(quick("node" + i));
    }
    launches.forEach(runner::start);
    launches.forEach(ends::await);
    assertThat(ends.started())
        .containsExactlyInAnyOrderElementsOf(
            confirms ? launches.stream().map(LaunchSpec::invocation).toList() : List.of());
  }

  @Test
  void aTaskThatSucceedsEndsByItselfWithItsStatus() {
    LaunchSpec launch = quick("node");
    runner.start(launch);
    TaskResult end = ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(end.rawStatus()).isEqualTo("done");
    assertThat(end.exitCode()).isZero();
  }

  @Test
  void theSameTaskMayRunAgainAsAnotherInvocation() {
    LaunchSpec first = quick("node");
    runner.start(first);
    ends.await(first);
    LaunchSpec second = quick("node");
    runner.start(second);
    ends.await(second);
    assertThat(ends.all()).hasSize(2);
  }

  @Test
  void killingWhatIsNotRunningIsRefused() {
    LaunchSpec launch = quick("node");
    assertThat(kill(launch)).isFalse();
    runner.start(launch);
    ends.await(launch);
    assertThat(kill(launch)).isFalse();
    assertThat(ends.all()).hasSize(1);
  }

  @Test
  void aKillOfAnotherInvocationOfARunningTaskIsRefused() {
    LaunchSpec launch = quick("node");
    runner.start(launch);
    Invocation other = new Invocation(7, 7, 7);
    assertThat(runner.kill(launch.job(), launch.node(), other, KillRequest.DEFAULT)).isFalse();
    assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.EXITED);
  }

  @Test
  void afterCloseNothingIsStarted() {
    runner.close();
    LaunchSpec launch = quick("node");
    runner.start(launch);
    assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(kill(launch)).isFalse();
  }

  @Test
  void closeReturnsWithAllEndsDelivered() {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      launches.add(quick("node" + i));
    }
    launches.forEach(runner::start);
    runner.close();
    assertThat(launches).allSatisfy(launch -> assertThat(ends.of(launch)).hasSize(1));
  }

  @Test
  void closingTwiceIsHarmless() {
    runner.close();
    runner.close();
    assertThat(ends.all()).isEmpty();
  }

  @Test
  void openIsCalledOnceAndBeforeTheFirstStart() throws Exception {
    assertThatThrownBy(() -> runner.open(ends)).isInstanceOf(IllegalStateException.class);
    runner.close();
    try (TaskRunner unopened = create()) {
      assertThatThrownBy(() -> unopened.start(quick("node")))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  protected final boolean kill(LaunchSpec launch) {
    return runner.kill(
        launch.job(),
        launch.node(),
        launch.invocation(),
        new KillRequest(KillRequest.Method.KILL, 0));
  }
}
