package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What one slice does is bounded, however large the whole is (docs/design/design.md#slices):
 * counted, not timed.
 */
final class SlicesTest {
  private static final int UNITS = 2_000;
  private static final int FEW = 20;
  private static final int HOSTS = 4_000;

  private final SchedulingCore core = new SchedulingCore(5);

  private static ConfigFixture hosts(int limit) {
    return new ConfigFixture("host", "db")
        .resource("host", "slots", limit)
        .resource("db", "lock", 1)
        .job("a")
        .job("b");
  }

  private static Config config(int limit, List<NodeLimitRule> limits, Duration killAfter) {
    return hosts(limit).nodeLimits(limits).killOverLimit(Map.of("slots", killAfter)).build();
  }

  /** Brings a change into force in slices; returns the largest part of the work in one of them. */
  private long change(Config config, Topology topology) {
    core.begin(core.prepare(config, topology));
    long most = 0;
    @Nullable NewTasks news = null;
    while (news == null) {
      long before = core.work();
      news = core.step(UNITS);
      most = Math.max(most, core.work() - before);
    }
    return most;
  }

  private void fill() {
    assertThat(core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, run -> {})).isTrue();
  }

  @Test
  void manyNodesThatComeOverTheirLimitWithAChangeTakeManySlices() {
    Duration killAfter = Duration.ofSeconds(10);
    Config even = config(2, List.of(), killAfter);
    Topology topology = TreeFixture.regular(even.settings().levels(), HOSTS, 3);
    core.apply(even, topology, 1_000);
    fill();
    assertThat(core.running().count()).isEqualTo(2 * HOSTS);

    // Half of the hosts get a limit of their own, below what is in use on them; some are new.
    List<NodeLimitRule> limits =
        List.of(NodeLimitRule.ofRegex(1, Pattern.compile("[02468]$"), Map.of("slots", 1)));
    core.setClock(2_000);
    Config differing = config(2, limits, killAfter);
    Topology larger = TreeFixture.regular(even.settings().levels(), HOSTS + 10, 3);
    assertThat(change(differing, larger)).isLessThan(2 * UNITS);
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(12_000);

    // They have been over for as long as before when nodes change again.
    core.setClock(5_000);
    assertThat(change(differing, topology)).isLessThan(2 * UNITS);
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(12_000);
  }

  @Test
  void manyClosedNodesAreCarriedInManySlices() {
    Config config = hosts(2).build();
    Topology topology = TreeFixture.regular(config.settings().levels(), HOSTS, 3);
    core.apply(config, topology, 1_000);
    Topology larger = TreeFixture.regular(config.settings().levels(), HOSTS + 1, 3);
    int open = slices(config, larger);
    for (int host = topology.levelStart(1); host < topology.levelEnd(1); host++) {
      Scope scope = Scope.node("host", topology.name(host));
      core.gates().close(new Gate(GateKind.NODE_WINDOW, scope, "", "closed", 1_000, 0));
    }
    assertThat(slices(config, topology)).isGreaterThan(open + HOSTS * 20 / UNITS);
    core.verify();
    fill();
    assertThat(core.running().count()).isZero();
  }

  private int slices(Config config, Topology topology) {
    core.begin(core.prepare(config, topology));
    int slices = 1;
    while (core.step(UNITS) == null) {
      slices++;
    }
    return slices;
  }

  @Test
  void anOverrideOfTheLimitOfAWholeLevelTakesManySlices() {
    Config config = hosts(2).build();
    core.apply(config, TreeFixture.regular(config.settings().levels(), HOSTS, 3), 1_000);
    fill();
    core.limits().override(new LimitOverride("host", "slots", "", 4, "", "", 0, 0));
    long most = 0;
    boolean done = false;
    while (!done) {
      long before = core.work();
      done = core.stepLimits(UNITS);
      most = Math.max(most, core.work() - before);
    }
    assertThat(most).isLessThan(2 * UNITS);
    core.verify();
  }

  @Test
  void timeOverTheLimitGoesOnThoughTheLimitWasLoweredWhileNodesChanged() {
    Duration killAfter = Duration.ofSeconds(10);
    Config config = config(2, List.of(), killAfter);
    Topology topology = TreeFixture.regular(config.settings().levels(), 200, 3);
    core.apply(config, topology, 1_000);
    fill();
    core.begin(core.prepare(config, TreeFixture.regular(config.settings().levels(), 201, 3)));
    assertThat(core.step(50)).isNull();
    core.setClock(3_000);
    core.limits().override(new LimitOverride("host", "slots", "", 1, "", "", 0, 0));
    while (!core.stepLimits(10_000)) {
      // The world in force has it before the one that is being made.
    }
    core.setClock(9_000);
    while (core.step(UNITS) == null) {
      // To the end.
    }
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(13_000);
  }

  @Test
  void jobsThatWereTouchedAreTakenAFewAtATime() {
    ConfigFixture config = new ConfigFixture("host");
    for (int j = 0; j < 2_500; j++) {
      config.job("job" + (10_000 + j));
    }
    core.apply(config.build(), TreeFixture.regular(config.levels(), 1), 0);
    List<Integer> taken = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    while (core.isTouched()) {
      int[] some = core.takeTouched(1_000);
      sizes.add(some.length);
      for (int job : some) {
        taken.add(job);
      }
    }
    assertThat(sizes).containsExactly(1_000, 1_000, 500);
    assertThat(taken).doesNotHaveDuplicates().hasSize(2_500);
  }

  /** As after a restart: tasks are adopted before there is a configuration. */
  @Test
  void tasksThatWereAdoptedBeforeTheirNodesWereKnownAreFoundAtOnceAndForgottenInSlices() {
    Config config = hosts(2).build();
    for (int host = 0; host < 500; host++) {
      assertThat(core.running().isRunning(core.adopt("a", "n1_" + host, WorkerRef.LOCAL))).isTrue();
    }
    Topology topology = TreeFixture.regular(config.settings().levels(), HOSTS, 3);
    String first = topology.name(topology.levelStart(2));
    long run = core.adopt("a", first, WorkerRef.LOCAL);
    change(config, topology);
    String host = topology.name(topology.parent(topology.levelStart(2)));
    for (int slice = 0; slice < 2; slice++) {
      assertThat(core.running().levels(run)).containsExactly("instance", "host", "db");
      assertThat(core.running().path(run)).endsWith(host, first);
      assertThat(core.running().resourcesByNode(run)).containsKeys(host, first);
      while (!core.stepOrphans(50)) {
        // In slices: the answers are the same before and after.
      }
      core.verify();
    }
  }

  /**
   * Its status is read from where it is stored, as that of any task that is new with a change: not
   * known before, whenever it ended.
   */
  @Test
  void aTaskOfANewJobThatEndsDuringTheChangeBringsNoStatus() {
    int changes = 0;
    for (int steps = 0; new SlicesTest().endsDuringAChange(steps); steps++) {
      changes++;
    }
    assertThat(changes).isGreaterThan(10);
  }

  /** Returns whether the change was still under way after so many steps. */
  private boolean endsDuringAChange(int steps) {
    ConfigFixture config = hosts(2);
    Topology topology = TreeFixture.regular(config.levels(), 2, 3);
    core.apply(config.build(), topology, 1_000);
    String node = topology.name(topology.levelStart(2));
    long known = core.adopt("a", node, WorkerRef.LOCAL);
    long unknown = core.adopt("c", node, WorkerRef.LOCAL);
    // Without a status that has details, their phase takes one step.
    String other = topology.name(topology.levelStart(2) + 1);
    core.finish(core.adopt("a", other, WorkerRef.LOCAL), TaskStatus.waiting(1_000, 60, 1));
    core.begin(core.prepare(config.job("c").build(), topology));
    for (int i = 0; i < steps; i++) {
      if (core.step(FEW) != null) {
        return false;
      }
    }
    TaskStatus done = TaskStatus.of(TaskStatus.Main.DONE, 2_000, 1);
    core.finish(known, done);
    core.finish(unknown, done);
    @Nullable NewTasks news = null;
    while (news == null) {
      news = core.step(FEW);
    }
    core.verify();
    assertThat(news.jobs()).containsExactly("c");
    assertThat(core.running().count()).isZero();
    int number = core.topology().find(2, node);
    assertThat(core.tasks().bits(core.findJob("a"), number)).isEqualTo(TaskStatus.Main.DONE.bit());
    assertThat(core.tasks().bits(core.findJob("c"), number))
        .as("after %d steps", steps)
        .isEqualTo(TaskStatus.Main.UNSTARTED.bit());
    return true;
  }
}
