package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.api.plan.UpdateImpact.OfJob;
import io.espalier.core.api.plan.UpdateImpact.Orphan;
import io.espalier.core.api.plan.UpdateImpact.OverLimit;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a configuration that is not in force would do. */
final class ImpactScanTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"]}, KILL
         "resources": {"host": {"slots": {"default": 1, "limit": 3}}}},
       "bistro_job->a": {"owner": "o", "command": ["x"], "kill_orphan_tasks_after_sec": 7},
       "bistro_job->b": {"owner": "o", "command": ["x"],
         "filters": {"db": {"whitelist": ["1", "2"]}}}}
      """;

  private final SchedulingCore core = new SchedulingCore(5);
  private final Config config = config(CONFIG);
  private final Topology tree = tree("h/1", "h/2", "g/3", "g/4");

  private static Config config(String text) {
    String whole = text.replace("KILL", "\"kill_orphan_tasks_after_sec\": 3,");
    return Objects.requireNonNull(
        ConfigFixtures.parser()
            .parse(Objects.requireNonNull(JsonReader.parse(whole).value()))
            .value());
  }

  private Topology tree(String... paths) {
    return TreeFixture.of(config.settings().levels(), paths);
  }

  private void start() {
    core.apply(config, tree, 100);
  }

  private UpdateImpact impact(Config after, Topology nodes) {
    TaskDifference difference = TaskDifference.of(core.config(), core.topology(), after, nodes);
    ImpactScan scan = core.impact(difference);
    assertThat(scan.isStale()).isFalse();
    while (!scan.step(1)) {
      // In slices.
    }
    return scan.impact();
  }

  @Test
  void theSameConfigurationDoesNothing() {
    start();
    UpdateImpact impact = impact(config(CONFIG), tree("h/1", "h/2", "g/3", "g/4"));
    assertThat(impact.jobs()).isEmpty();
    assertThat(impact.kills() + impact.added() + impact.removed()).isZero();
    assertThat(List.of(impact.nodesBefore(), impact.nodesAdded(), impact.nodesRemoved()))
        .containsExactly(6L, 0L, 0L);
  }

  @Test
  void aFilterIsCountedByTask() {
    start();
    UpdateImpact impact = impact(config(CONFIG.replace("[\"1\", \"2\"]", "[\"2\", \"3\"]")), tree);
    assertThat(impact.jobs()).containsExactly(new OfJob("b", "db", 2, 2, 1, 1, 0, 0));
  }

  @Test
  void tasksOfAJobAreNewWhenItIsEnabledAndGoneWhenItIsDisabledButTheirStatusesStay() {
    Config off = config(CONFIG.replace("->b\": {", "->b\": {\"enabled\": false, "));
    core.apply(off, tree, 100);
    assertThat(impact(off, tree).jobs()).isEmpty();
    assertThat(impact(config, tree).jobs()).containsExactly(new OfJob("b", "db", 0, 2, 2, 0, 0, 0));

    core.apply(config, tree, 200);
    int b = core.findJob("b");
    core.setStatus(b, core.findNode(b, "2"), TaskStatus.of(Main.DONE, 5, 0));
    assertThat(impact(off, tree).jobs()).containsExactly(new OfJob("b", "db", 2, 0, 0, 2, 0, 0));
  }

  @Test
  void allTasksAreNewWhenTheSchedulerIsEnabledAndGoneWhenItIsDisabled() {
    Config off = config(CONFIG.replace("KILL", "KILL \"enabled\": false,"));
    core.apply(off, tree, 100);
    assertThat(impact(off, tree).jobs()).isEmpty();
    UpdateImpact enabling = impact(config, tree);
    assertThat(enabling.added()).isEqualTo(6);
    assertThat(enabling.jobs())
        .containsExactly(
            new OfJob("a", "db", 0, 4, 4, 0, 0, 0), new OfJob("b", "db", 0, 2, 2, 0, 0, 0));

    core.apply(config, tree, 200);
    UpdateImpact disabling = impact(off, tree);
    assertThat(disabling.jobs())
        .containsExactly(
            new OfJob("a", "db", 4, 0, 0, 4, 0, 0), new OfJob("b", "db", 2, 0, 0, 2, 0, 0));
    assertThat(disabling.kills()).isZero();
  }

  @Test
  void statusesAndRunningTasksOfARenamedJobAreLeftBehind() {
    start();
    int a = core.findJob("a");
    core.setStatus(a, core.findNode(a, "3"), TaskStatus.of(Main.DONE, 5, 0));
    core.setStatus(a, core.findNode(a, "4"), TaskStatus.of(Main.FAILED, 5, 0));
    List<Long> runs = new ArrayList<>();
    core.round(TestPolicies.IN_TURN, 1, runs::add);
    String running = core.running().nodeName(runs.get(0));
    String of = core.running().jobName(runs.get(0));
    assertThat(of).isEqualTo("a");

    UpdateImpact impact = impact(config(CONFIG.replace("->a", "->c")), tree);
    assertThat(impact.jobs())
        .containsExactly(
            new OfJob("a", "db", 4, 0, 0, 4, 3, 1), new OfJob("c", "db", 0, 4, 4, 0, 0, 0));
    // The delay of a job that is gone is that of the settings.
    assertThat(impact.orphans()).containsExactly(new Orphan("a", running, 3_000));
    assertThat(List.of(impact.orphanCount(), impact.orphanKills(), impact.running()))
        .containsExactly(1L, 1L, 1L);
  }

  @Test
  void aSchedulerThatIsSwitchedOffKillsNothing() {
    start();
    core.round(TestPolicies.IN_TURN, 1, run -> {});
    String off = CONFIG.replace("KILL", "\"enabled\": false, KILL").replace("->a", "->c");
    UpdateImpact impact = impact(config(off), tree);
    assertThat(List.of(impact.orphanCount(), impact.kills())).containsExactly(1L, 0L);
  }

  @Test
  void nodesThatGoTakeTheirTasksAlong() {
    start();
    int b = core.findJob("b");
    core.setStatus(b, core.findNode(b, "2"), TaskStatus.of(Main.DONE, 5, 0));
    UpdateImpact impact = impact(config, tree("h/1", "g/3", "g/4", "g/5"));
    assertThat(List.of(impact.nodesBefore(), impact.nodesAdded(), impact.nodesRemoved()))
        .containsExactly(6L, 1L, 1L);
    assertThat(impact.jobs())
        .containsExactly(
            new OfJob("a", "db", 4, 4, 1, 1, 0, 0), new OfJob("b", "db", 2, 1, 0, 1, 1, 0));
  }

  @Test
  void nodesThatGoOverTheirLimitAreNamed() {
    start();
    assertThat(core.round(TestPolicies.IN_TURN, 100, run -> {})).isTrue();
    String lower =
        CONFIG.replace("\"limit\": 3", "\"limit\": 1, \"kill_over_limit_after_sec\": 60");
    UpdateImpact impact = impact(config(lower), tree);
    assertThat(impact.overLimits())
        .containsExactlyInAnyOrder(
            new OverLimit("host", "h", "slots", 3, 1, 60_000),
            new OverLimit("host", "g", "slots", 2, 1, 60_000));
    assertThat(List.of(impact.overLimitCount(), impact.overLimitKills(), impact.kills()))
        .containsExactly(2L, 3L, 3L);
    UpdateImpact mild = impact(config(CONFIG.replace("\"limit\": 3", "\"limit\": 2")), tree);
    assertThat(mild.overLimits()).containsExactly(new OverLimit("host", "h", "slots", 3, 2, -1));
    assertThat(mild.kills()).isZero();
  }

  @Test
  void jobsThatCanNeverRunAreTold() {
    start();
    String much = CONFIG.replace("\"command\": [\"x\"],", "\"command\": [\"x\"], NEEDS");
    UpdateImpact impact =
        impact(config(much.replace("NEEDS", "\"resources\": {\"slots\": 9},")), tree);
    assertThat(impact.never())
        .extracting(problem -> problem.path())
        .containsExactlyInAnyOrder(
            "bistro_job->a.resources.slots", "bistro_job->b.resources.slots");
  }

  @Test
  void aScanIsStaleWhenSomethingElseCameIntoForce() {
    start();
    Config next = config(CONFIG.replace("\"limit\": 3", "\"limit\": 2"));
    ImpactScan scan =
        core.impact(TaskDifference.of(core.config(), core.topology(), next, core.topology()));
    core.apply(config(CONFIG.replace("\"owner\": \"o\"", "\"owner\": \"p\"")), tree, 200);
    assertThat(scan.isStale()).isTrue();
  }

  private static Config randomConfig(Random random) {
    StringBuilder jobs = new StringBuilder();
    for (String name : List.of("a", "b", "c")) {
      if (random.nextInt(4) > 0) {
        String level = random.nextInt(3) == 0 ? "host" : "db";
        String some = "\"" + random.nextInt(8) + "\", \"" + random.nextInt(8) + "\", \"h0\"";
        jobs.append(",\"bistro_job->").append(name).append("\": {\"owner\": \"o\", ");
        jobs.append("\"level_for_tasks\": \"").append(level).append("\", ");
        jobs.append("\"command\": [\"x\"], \"enabled\": ").append(random.nextInt(4) > 0);
        if (random.nextBoolean()) {
          jobs.append(", \"filters\": {\"").append(level);
          jobs.append("\": {\"whitelist\": [").append(some).append("]}}");
        }
        jobs.append('}');
      }
    }
    return config(
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\", \"db\"]}, \"resources\": {"
            + "\"host\": {\"slots\": {\"default\": 1, \"limit\": "
            + (1 + random.nextInt(3))
            + "}}}}"
            + jobs
            + "}");
  }

  private Topology randomTree(Random random) {
    List<String> paths = new ArrayList<>();
    for (int db = 0; db < 8; db++) {
      if (random.nextInt(5) > 0) {
        paths.add("h" + random.nextInt(3) + "/" + db);
      }
    }
    return tree(paths.toArray(new String[0]));
  }

  private static Set<String> over(SchedulingCore core) {
    Set<String> over = new TreeSet<>();
    for (int n = core.topology().levelStart(1); n < core.topology().levelEnd(1); n++) {
      if (core.capacity().free(n, 0) < 0) {
        over.add(core.topology().name(n));
      }
    }
    return over;
  }

  private static Set<Long> orphans(SchedulingCore core) {
    return LongStream.of(core.running().orphans()).boxed().collect(Collectors.toSet());
  }

  /** Counts the tasks of a job that may run, in a core where nothing has run. */
  private static long tasks(Config config, Topology nodes, String job) {
    SchedulingCore fresh = new SchedulingCore(1);
    fresh.apply(config, nodes, 100);
    int number = fresh.findJob(job);
    Job configured = fresh.job(number);
    return configured == null || !configured.canRun() || !config.settings().enabled()
        ? 0
        : fresh.tasks().progress(number).total();
  }

  @Test
  void whatIsPlannedHappens() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      SchedulingCore world = new SchedulingCore(seed);
      world.apply(randomConfig(random), randomTree(random), 100);
      for (int change = 0; change < 3; change++) {
        world.round(TestPolicies.IN_TURN, 100, run -> {});
        Config after = randomConfig(random);
        Topology nodes = random.nextBoolean() ? world.topology() : randomTree(random);
        ImpactScan scan =
            world.impact(TaskDifference.of(world.config(), world.topology(), after, nodes));
        while (!scan.step(3)) {
          // In slices.
        }
        UpdateImpact impact = scan.impact();
        Map<String, Long> before = new HashMap<>();
        for (String job : List.of("a", "b", "c")) {
          before.put(job, tasks(world.config(), world.topology(), job));
        }
        Set<Long> orphans = orphans(world);
        Set<String> over = over(world);
        Topology old = world.topology();
        world.apply(after, nodes, 200 + change);

        String what = "seed " + seed + ", change " + change;
        for (String job : before.keySet()) {
          OfJob touched =
              impact.jobs().stream()
                  .filter(each -> each.job().equals(job))
                  .findFirst()
                  .orElse(new OfJob(job, "", 0, 0, 0, 0, 0, 0));
          long grown = touched.added() - touched.removed();
          assertThat(tasks(after, nodes, job) - before.getOrDefault(job, 0L))
              .as(what)
              .isEqualTo(grown);
        }
        Set<Long> newOrphans = orphans(world);
        newOrphans.removeAll(orphans);
        assertThat(impact.orphanCount()).as(what).isEqualTo(newOrphans.size());
        Set<String> newOver = over(world);
        newOver.removeAll(over);
        // A node that comes back gets the tasks that still run on it; a plan does not know them.
        newOver.removeIf(host -> old.find(1, host) < 0);
        assertThat(impact.overLimitCount()).as(what).isEqualTo(newOver.size());
      }
    }
  }
}
