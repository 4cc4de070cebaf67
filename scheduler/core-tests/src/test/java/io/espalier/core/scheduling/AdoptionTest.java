package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.running.WorkerRef;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tasks that run already when the scheduler starts. */
final class AdoptionTest {
  private static final WorkerRef SOMEWHERE = new WorkerRef("w1", 17);

  private final SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config =
      new ConfigFixture("host", "db").resource("host", "slots", 1).job("a");

  private void apply(String... paths) {
    core.apply(config.build(), TreeFixture.of(config.levels(), paths), 0);
    core.verify();
  }

  private List<String> round() {
    List<String> starts = new ArrayList<>();
    core.round(
        TestPolicies.IN_TURN,
        100,
        run -> starts.add(core.running().jobName(run) + "/" + core.running().nodeName(run)));
    core.verify();
    return starts;
  }

  @Test
  void aTaskAdoptedBeforeTheFirstConfigurationHoldsItsSlotsFromThatOn() {
    long run = core.adopt("a", "d1", SOMEWHERE);
    assertThat(core.running().jobName(run)).isEqualTo("a");
    assertThat(core.running().nodeName(run)).isEqualTo("d1");
    assertThat(core.running().job(run)).isEqualTo(-1);
    assertThat(core.running().orphans()).containsExactly(run);
    assertThat(round()).isEmpty();

    apply("h1/d1", "h1/d2", "h2/d3");
    assertThat(core.running().orphans()).isEmpty();
    assertThat(core.running().path(run)).containsExactly(TreeFixture.INSTANCE, "h1", "d1");
    assertThat(core.running().resourcesByNode(run).get("h1")).containsEntry("slots", 1);
    assertThat(round()).containsExactly("a/d3");

    core.finish(run, null);
    assertThat(round()).hasSize(1).isSubsetOf("a/d1", "a/d2");
  }

  @Test
  void aTaskOfAJobThatIsGoneEndsWithoutATrace() {
    long run = core.adopt("gone", "d1", SOMEWHERE);
    apply("h1/d1");
    assertThat(core.running().orphans()).containsExactly(run);
    assertThat(round()).containsExactly("a/d1");
    core.finish(run, null);
    core.verify();
    assertThat(core.running().count()).isEqualTo(1);
  }

  @Test
  void aTaskOfANodeThatIsGoneIsNotStartedAgainWhenTheNodeComesBack() {
    apply("h1/d1");
    long run = core.adopt("a", "d9", SOMEWHERE);
    assertThat(core.running().node(run)).isEqualTo(-1);
    assertThat(core.running().orphans()).containsExactly(run);
    apply("h1/d1", "h9/d9");
    assertThat(core.running().node(run)).isNotNegative();
    assertThat(round()).containsExactly("a/d1");
    core.finish(run, null);
    assertThat(round()).containsExactly("a/d9");
  }

  @Test
  void aRunningTaskIsNotAdopted() {
    apply("h1/d1");
    round();
    assertThatThrownBy(() -> core.adopt("a", "d1", SOMEWHERE))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
