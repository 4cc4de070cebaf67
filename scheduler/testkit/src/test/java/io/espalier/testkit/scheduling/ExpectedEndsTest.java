package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.espalier.core.config.NodeOrder;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is said about the ends that come next changes nothing but the time they take. */
final class ExpectedEndsTest {
  private static final ConfigFixture CONFIG =
      new ConfigFixture("host", "db")
          .order(NodeOrder.RANDOM)
          .resource("host", "slots", 2)
          .resource("db", "lock", 1)
          .job("a")
          .job("b")
          .job("c");

  private static SchedulingCore core() {
    SchedulingCore core = new SchedulingCore(5);
    Topology topology = Trees.regular(CONFIG.levels(), 20, 10);
    core.apply(CONFIG.build(), topology, 0);
    return core;
  }

  private static List<String> placements(boolean told) {
    SchedulingCore core = core();
    Random random = new Random(3);
    List<String> placed = new ArrayList<>();
    for (int step = 0; step < 200; step++) {
      core.round(
          TestPolicies.IN_TURN,
          Integer.MAX_VALUE,
          run -> placed.add(run + " " + core.runJob(run) + " " + core.runNode(run)));
      long[] ending = random.longs(7, 0, core.runningCount()).distinct().toArray();
      long[] runs = core.runs();
      for (int i = 0; i < ending.length; i++) {
        ending[i] = runs[(int) ending[i]];
      }
      if (told) {
        core.expectEnds(ending, 0, ending.length);
      }
      for (long run : ending) {
        core.finish(run, null);
      }
    }
    core.verify();
    return placed;
  }

  @Test
  void placementsAreTheSameWithAndWithoutBeingTold() {
    assertThat(placements(true)).isEqualTo(placements(false)).hasSizeGreaterThan(500);
  }

  @Test
  void whatDoesNotRunMayBeExpectedToEnd() {
    SchedulingCore core = core();
    long[] none = {-1, 0, 5, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32 | 3, 0x7fff_ffffL};
    assertThatCode(() -> core.expectEnds(none, 0, none.length)).doesNotThrowAnyException();
    core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, run -> {});
    long ended = core.runs()[0];
    core.finish(ended, null);
    none[0] = ended;
    assertThatCode(() -> core.expectEnds(none, 0, none.length)).doesNotThrowAnyException();
    assertThat(core.work()).isPositive();
    core.verify();
  }
}
