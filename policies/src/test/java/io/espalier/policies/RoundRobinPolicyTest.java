package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class RoundRobinPolicyTest extends SchedulingPolicyContract {
  @Override
  protected SchedulingPolicy policy() {
    return new RoundRobinPolicy();
  }

  /**
   * Mirrored: nodes come in their order, first names first (docs/design/design.md#order-of-nodes).
   */
  @Test
  void s4_jobsTakeTurns() {
    ConfigFixture config =
        new ConfigFixture("host", "db").resource("db", "lock", 1).job("job1").job("job2");
    assertThat(started(core(config, "h1/db11", "h1/db12", "h2/db21", "h2/db22"), 100))
        .containsExactly("job1 db11", "job2 db12", "job1 db21", "job2 db22");
  }

  @Test
  void shuffledJobsTakeTurnsInARandomOrderThatTheSeedDecides() {
    ConfigFixture config =
        new ConfigFixture("db").job("a").job("b").job("c").job("d").shuffle(true);
    String[] nodes = {"d1", "d2", "d3", "d4", "d5", "d6"};
    List<String> starts = started(core(config, nodes), 100);
    Set<List<String>> turns = new HashSet<>();
    for (int turn = 0; turn < nodes.length; turn++) {
      List<String> jobs = new ArrayList<>();
      starts.subList(4 * turn, 4 * turn + 4).forEach(start -> jobs.add(start.substring(0, 1)));
      assertThat(jobs).containsExactlyInAnyOrder("a", "b", "c", "d");
      turns.add(jobs);
    }
    assertThat(turns).as("each turn has an order of its own").hasSizeGreaterThan(2);
    assertThat(started(core(config, nodes), 100)).as("the same seed").isEqualTo(starts);
  }

  @Test
  void shuffledJobsThatCompeteForOneSlotAllGetIt() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("instance", "one", 1)
            .job("a")
            .job("b")
            .job("c")
            .shuffle(true);
    SchedulingCore core = core(config, "d1", "d2", "d3");
    Set<String> jobs = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      core.round(policy(), 10, run -> jobs.add(core.running().jobName(run)));
      core.finish(core.running().all()[0], null);
    }
    assertThat(jobs).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  void jobsThatCompeteForOneSlotGetItInTurn() {
    ConfigFixture config =
        new ConfigFixture("db").resource("instance", "one", 1).job("a").job("b").job("c");
    SchedulingCore core = core(config, "d1", "d2", "d3");
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      core.round(policy(), 10, run -> jobs.add(core.running().jobName(run)));
      core.finish(core.running().all()[0], null);
    }
    assertThat(jobs).containsExactly("a", "b", "c", "a", "b", "c");
  }
}
