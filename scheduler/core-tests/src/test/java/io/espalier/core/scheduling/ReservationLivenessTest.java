package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In random trees with light work that never ends every task that fits at all starts, within a
 * bounded number of ends (docs/adr/0035-reservations.md).
 *
 * <p>The bound: a task climbs at most as many levels as there are, and on each it waits once for
 * {@code reserve_after} and once for the tasks that run to end. Tasks of which nothing is known but
 * that they run end in the order of their starts, so all that ran when a node was held have ended
 * after as many ends as there are running tasks. While a task waits for its turn others start: at
 * most all of them before it.
 */
final class ReservationLivenessTest {
  private static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);
  private static final int AFTER_MILLIS = 1_000;
  private static final int RECHECK_MILLIS = 1_000;
  private static final int END_MILLIS = 20;

  private final List<String> levels = List.of("rack", "host", "disk");

  @ParameterizedTest
  @ValueSource(longs = {0, 1000, 2000, 3000})
  void everyTaskThatFitsStarts(long first) {
    int starved = 0;
    for (long seed = first; seed < first + 15; seed++) {
      run(seed, Optional.of(Duration.ofMillis(AFTER_MILLIS)), true);
      starved += run(seed, Optional.empty(), false);
    }
    // Or this would prove nothing.
    assertThat(starved).isPositive();
  }

  private int run(long seed, Optional<Duration> after, boolean all) {
    Random random = new Random(seed);
    SchedulingCore core = new SchedulingCore(seed);
    int depth = 1 + random.nextInt(levels.size());
    ConfigFixture config = new ConfigFixture(levels.subList(0, depth).toArray(new String[0]));
    List<String> names = config.levels().names().subList(0, depth + 1);
    List<NodeSpec> nodes = nodes(random, depth);
    boolean fair = random.nextBoolean();
    int[] limits = new int[2 * names.size()];
    for (int r = 0; r < limits.length; r++) {
      limits[r] = (r > 0 ? 1 : 2) + random.nextInt(4);
      config.resource(names.get(r / 2), "r" + r, limits[r], 0);
    }
    for (int j = 0; j < 3; j++) {
      config.job("light" + j, job("light" + j, random, names, limits, 1).reserveAfter(after));
    }
    config.job("lightest", new JobFixture("lightest").level(names.get(depth)).needs("r0", 1));
    core.apply(
        config.build(),
        TreeFixture.of(config.levels(), config.build().settings().nodeOrder(), nodes),
        0);
    World world = new World(core, fair);
    world.turn();
    for (int j = 0; j < 2; j++) {
      JobFixture heavy = job("heavy" + j, random, names, limits, 4).reserveAfter(after);
      // A policy may keep jobs waiting that need no more than others: then it is no matter of
      // slots.
      config.job("heavy" + j, heavy.needs("r0", 2 + random.nextInt(limits[0] - 1)));
    }
    core.apply(
        config.build(),
        TreeFixture.of(config.levels(), config.build().settings().nodeOrder(), nodes),
        0);
    world.turn();
    long tasks = core.tasks().progress(core.findJob("heavy0")).total();
    tasks += core.tasks().progress(core.findJob("heavy1")).total();
    int most = core.running().count() + 40;
    long bound =
        (tasks + 1) * names.size() * (AFTER_MILLIS + 2 * RECHECK_MILLIS + 2L * most * END_MILLIS);
    while (world.now < bound && world.heavy.size() < tasks && !world.running.isEmpty()) {
      world.end();
    }
    core.verify();
    if (all) {
      assertThat(world.heavy.size())
          .as("heavy tasks started, seed %s", seed)
          .isEqualTo((int) tasks);
    }
    return world.heavy.size() < tasks ? 1 : 0;
  }

  private static JobFixture job(
      String name, Random random, List<String> levels, int[] limits, int most) {
    int level = random.nextInt(levels.size());
    JobFixture job = new JobFixture(name).level(levels.get(level));
    for (int r = 0; r < limits.length; r++) {
      if (random.nextInt(3) > 0) {
        job.needs("r" + r, Math.min(limits[r], 1 + random.nextInt(most)));
      }
    }
    return job;
  }

  private List<NodeSpec> nodes(Random random, int depth) {
    List<NodeSpec> nodes = new ArrayList<>();
    int above = 1;
    for (int level = 1; level <= depth; level++) {
      int count = 1 + random.nextInt(4);
      for (int i = 0; i < count; i++) {
        Set<Integer> parents = new HashSet<>();
        parents.add(random.nextInt(above));
        if (random.nextInt(4) == 0) {
          parents.add(random.nextInt(above));
        }
        for (int parent : parents) {
          nodes.add(
              new NodeSpec(
                  level,
                  "n" + level + "_" + i,
                  level == 1 ? null : "n" + (level - 1) + "_" + parent,
                  level - 1,
                  true,
                  Set.of(),
                  Json.Obj.EMPTY));
        }
      }
      above = count;
    }
    return nodes;
  }

  /** Endless light work. */
  private static final class World {
    final SchedulingCore core;
    final SchedulingPolicy policy;
    final Queue<Long> running = new ArrayDeque<>();
    final Set<String> heavy = new HashSet<>();
    long now;

    World(SchedulingCore core, boolean fair) {
      this.core = core;
      policy = fair ? TestPolicies.IN_TURN : TestPolicies.LIGHT_FIRST;
    }

    void turn() {
      boolean advanced = false;
      while (!advanced) {
        advanced = core.advance(now, 50);
      }
      boolean complete = false;
      while (!complete) {
        complete = core.round(policy, 50, this::placed);
      }
    }

    private void placed(long run) {
      running.add(run);
      if (core.running().jobName(run).startsWith("heavy")) {
        heavy.add(core.running().jobName(run) + core.running().nodeName(run));
      }
    }

    void end() {
      long run = running.remove();
      core.finish(run, core.running().jobName(run).startsWith("heavy") ? DONE : null);
      now += END_MILLIS;
      turn();
    }
  }
}
