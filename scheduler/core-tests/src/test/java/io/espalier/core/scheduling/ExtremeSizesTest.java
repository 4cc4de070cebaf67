package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Far more of everything than anybody should have: nothing breaks, and all limits hold. */
class ExtremeSizesTest {
  private final SchedulingCore core = new SchedulingCore(11);
  private final Set<String> started = new HashSet<>();

  private List<Long> round() {
    List<Long> runs = new ArrayList<>();
    while (!core.round(TestPolicies.IN_TURN, 5_000, runs::add)) {
      // In slices.
    }
    for (long run : runs) {
      assertThat(started.add(core.running().jobName(run) + " on " + core.running().nodeName(run)))
          .isTrue();
    }
    return runs;
  }

  private void finish(List<Long> runs) {
    TaskStatus done =
        Objects.requireNonNull(
            TaskTransitions.apply(
                    TaskTransitions.firstStart(0),
                    new TaskEvent.Ended(ParsedStatus.DONE),
                    Backoff.DEFAULT,
                    0)
                .status());
    runs.forEach(run -> core.finish(run, done));
  }

  private void runToTheEnd(int tasks, int atATime) {
    int total = 0;
    for (List<Long> runs = round(); !runs.isEmpty(); runs = round()) {
      assertThat(runs.size()).isLessThanOrEqualTo(atATime);
      total += runs.size();
      finish(runs);
    }
    assertThat(total).isEqualTo(tasks);
    core.verify();
  }

  @Test
  void ten_thousand_jobs() {
    ConfigFixture config = new ConfigFixture("host", "db").resource("host", "slots", 500);
    for (int i = 0; i < 10_000; i++) {
      config.job("j" + i, new JobFixture("j" + i).needs("slots", 1));
    }
    List<NodeSpec> nodes = new ArrayList<>();
    for (int h = 0; h < 2; h++) {
      nodes.add(NodeSpec.child(1, "h" + h, null));
      nodes.add(NodeSpec.child(2, "h" + h + ".a", "h" + h));
      nodes.add(NodeSpec.child(2, "h" + h + ".b", "h" + h));
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes), 0);
    runToTheEnd(40_000, 1_000);
  }

  @Test
  void a_thousand_resources_on_five_levels_and_jobs_that_need_all_of_them() {
    String[] levels = {"a", "b", "c", "d", "e"};
    ConfigFixture config = new ConfigFixture(levels);
    JobFixture all = new JobFixture("all");
    for (int r = 0; r < 1_000; r++) {
      config.resource(levels[r % 5], "r" + r, 1 + r % 3, 0);
      all.needs("r" + r, 1);
    }
    config.job("all", all);
    config.job("none", new JobFixture("none"));
    List<NodeSpec> nodes = new ArrayList<>();
    nodes.add(NodeSpec.child(1, "n", null));
    for (int level = 2; level <= 5; level++) {
      int depth = level;
      nodes.stream()
          .filter(node -> node.level() == depth - 1)
          .toList()
          .forEach(
              parent -> {
                nodes.add(NodeSpec.child(depth, parent.name() + "0", parent.name()));
                nodes.add(NodeSpec.child(depth, parent.name() + "1", parent.name()));
              });
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes), 0);
    List<Long> first = round();
    assertThat(first).as("one that needs all, and those that need nothing").hasSize(17);
    core.verify();
    String waits = started.contains("all on n0000") ? "n1111" : "n0000";
    Explanation explanation = core.tasks().explain("all", waits);
    assertThat(explanation.reasons()).as("each full resource, by name").hasSizeGreaterThan(60);
    finish(first);
    runToTheEnd(15, 1);
  }

  @Test
  void sixty_four_levels() {
    String[] levels = new String[64];
    for (int i = 0; i < 64; i++) {
      levels[i] = "l" + i;
    }
    ConfigFixture config = new ConfigFixture(levels);
    JobFixture job = new JobFixture("j");
    for (String level : levels) {
      config.resource(level, "r_" + level, 2, 1);
      job.needs("r_" + level, 1);
    }
    config.job("j", job);
    List<NodeSpec> nodes = new ArrayList<>();
    for (int chain = 0; chain < 20; chain++) {
      for (int level = 1; level <= 64; level++) {
        int width = level == 64 ? 3 : 1;
        for (int i = 0; i < width; i++) {
          String parent = level == 1 ? null : "n" + chain + "." + (level - 1) + ".0";
          nodes.add(NodeSpec.child(level, "n" + chain + "." + level + "." + i, parent));
        }
      }
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes), 0);
    List<Long> first = round();
    assertThat(first).hasSize(40);
    assertThat(core.running().path(first.get(0))).hasSize(65);
    finish(first);
    runToTheEnd(20, 20);
  }

  @Test
  void a_tree_that_empties_and_refills_loses_no_running_task_and_starts_none_again() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 2)
            .job("j", new JobFixture("j").needs("slots", 1));
    List<NodeSpec> nodes = new ArrayList<>();
    for (int h = 0; h < 100; h++) {
      nodes.add(NodeSpec.child(1, "h" + h, null));
      for (int d = 0; d < 3; d++) {
        nodes.add(NodeSpec.child(2, "h" + h + "." + d, "h" + h));
      }
    }
    Topology full = TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes);
    Topology empty = TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, List.of());
    nodes.sort(Comparator.comparing(NodeSpec::level).thenComparing(NodeSpec::name));
    Topology other = TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes);
    core.apply(config.build(), full, 0);
    List<Long> running = round();
    assertThat(running).hasSize(200);
    for (Topology next : List.of(empty, empty, other, empty, full)) {
      core.apply(config.build(), next, 0);
      core.verify();
      assertThat(round()).as("there is nothing, or its slots are taken still").isEmpty();
      assertThat(core.running().all()).hasSize(200);
      assertThat(running).allMatch(core.running()::isRunning);
    }
    finish(running);
    runToTheEnd(100, 100);
  }
}
