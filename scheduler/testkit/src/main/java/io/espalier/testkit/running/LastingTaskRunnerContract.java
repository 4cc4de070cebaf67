package io.espalier.testkit.running;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of every {@link TaskRunner} whose tasks take time. */
public abstract class LastingTaskRunnerContract extends TaskRunnerContract {

  /** Returns a new launch of a task that does not end by itself within the test. */
  protected abstract LaunchSpec lasting(String node);

  @Test
  void aRunningTaskCanBeKilled() {
    LaunchSpec launch = lasting("node");
    runner().start(launch);
    assertThat(kill(launch)).isTrue();
    TaskResult end = ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(end.rawStatus()).isNull();
  }

  @Test
  void aSecondKillDoesNotMakeASecondEnd() {
    LaunchSpec launch = lasting("node");
    runner().start(launch);
    kill(launch);
    kill(launch);
    ends.await(launch);
    runner().close();
    assertThat(ends.all()).hasSize(1);
  }

  @Test
  void whatIsRecalledEndsOnceAndGoesOnIfItHadBegun() {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      launches.add(lasting("node" + i));
    }
    launches.forEach(runner()::start);
    boolean unused = runner().recall(launches);
    launches.forEach(this::kill);
    launches.forEach(ends::await);
    runner().close();
    assertThat(ends.all())
        .hasSize(20)
        .allMatch(
            end ->
                end.kind() == TaskResult.Kind.KILLED || end.kind() == TaskResult.Kind.NOT_STARTED);
  }

  @Test
  void oneOfManyIsKilledAndTheOthersGoOn() {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      launches.add(lasting("node" + i));
    }
    launches.forEach(runner()::start);
    for (int i = 0; i < launches.size(); i++) {
      kill(launches.get(i));
      ends.await(launches.get(i));
      assertThat(ends.all()).hasSize(i + 1);
    }
  }

  @Test
  void anInvocationCannotBeStartedTwice() {
    LaunchSpec launch = lasting("node");
    runner().start(launch);
    assertThatThrownBy(() -> runner().start(launch)).isInstanceOf(IllegalStateException.class);
    assertThat(ends.all()).isEmpty();
  }

  @Test
  void closeEndsWhatIsRunning() {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      launches.add(lasting("node" + i));
    }
    launches.forEach(runner()::start);
    runner().close();
    assertThat(launches).allSatisfy(launch -> assertThat(ends.of(launch)).hasSize(1));
  }
}
