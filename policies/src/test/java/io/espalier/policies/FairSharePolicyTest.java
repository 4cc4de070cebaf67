package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.api.view.QueueView;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Shares of queues (docs/design/features.md#shares-of-queues), in the numbers of that page. */
final class FairSharePolicyTest extends SchedulingPolicyContract {
  private static final long MINUTE = 60_000;
  private static final long HOUR = 60 * MINUTE;

  @Override
  protected SchedulingPolicy policy() {
    return new FairSharePolicy();
  }

  private static QueueSpec queue(String name, double factor) {
    return new QueueSpec(name, factor, Map.of(), Map.of());
  }

  /** Job {@code j-NAME} of each queue, on as many nodes, over one pool of slots. */
  private static ConfigFixture config(int slots, QueueSpec... queues) {
    ConfigFixture config =
        new ConfigFixture("db").resource("instance", "slots", slots).queues(queues);
    for (QueueSpec queue : queues) {
      String job = "j-" + queue.name();
      config.job(job, new JobFixture(job).queue(queue.name()));
    }
    return config;
  }

  private static SchedulingCore core(ConfigFixture config, int nodes, long seed) {
    String[] names = new String[nodes];
    for (int i = 0; i < nodes; i++) {
      names[i] = "d" + i;
    }
    SchedulingCore core = new SchedulingCore(seed);
    core.apply(config.build(), TreeFixture.of(config.levels(), names), 0);
    return core;
  }

  /** Starts per queue in one pass. */
  private Map<String, Integer> pass(SchedulingCore core, List<Long> runs) {
    Map<String, Integer> starts = new TreeMap<>();
    boolean whole =
        core.round(
            policy(),
            Integer.MAX_VALUE,
            run -> {
              runs.add(run);
              starts.merge(core.running().jobName(run).substring(2), 1, Integer::sum);
            });
    assertThat(whole).isTrue();
    return starts;
  }

  private static void endAll(SchedulingCore core, List<Long> runs) {
    runs.forEach(run -> core.finish(run, null));
    runs.clear();
  }

  private void passesGive20And10(SchedulingCore core) {
    int sum = 0;
    List<Long> runs = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Map<String, Integer> starts = pass(core, runs);
      int a = starts.getOrDefault("a", 0);
      assertThat(a).as("pass %s", i).isBetween(19, 21);
      assertThat(starts.getOrDefault("b", 0)).isEqualTo(30 - a);
      sum += a;
      endAll(core, runs);
    }
    assertThat(sum).isBetween(19_800, 20_200);
  }

  @Test
  void effectivePrioritiesOf1And2Share30SlotsAs20And10() {
    SchedulingCore core = core(config(30, queue("a", 1), queue("b", 1)), 40, 3);
    core.restoreQueueUsage(List.of(new QueueUsage("a", 1, 0), new QueueUsage("b", 2, 0)), 0);
    assertThat(core.capacity().queues())
        .extracting(QueueView::effectivePriority)
        .containsExactly(1.0, 2.0);
    assertThat(core.capacity().queues().get(0).share()).isEqualTo(2 / 3.0, within(1e-9));
    passesGive20And10(core);
  }

  @Test
  void halfTheFactorWithTheSameHistoryIsTwiceTheShare() {
    SchedulingCore core = core(config(30, queue("a", 0.5), queue("b", 1)), 40, 4);
    passesGive20And10(core);
    core.restoreQueueUsage(List.of(new QueueUsage("a", 0.3, 0), new QueueUsage("b", 0.3, 0)), 0);
    passesGive20And10(core);
  }

  @Test
  void theRestIsDrawnByLotSoThatManySmallPassesAreFairToo() {
    SchedulingCore core = core(config(1, queue("a", 1), queue("b", 2), queue("c", 4)), 5, 5);
    Map<String, Integer> sums = new TreeMap<>();
    List<Long> runs = new ArrayList<>();
    List<String> order = new ArrayList<>();
    for (int i = 0; i < 7000; i++) {
      pass(core, runs)
          .forEach(
              (queue, n) -> {
                sums.merge(queue, n, Integer::sum);
                order.add(queue);
              });
      endAll(core, runs);
    }
    assertThat(of(sums, "a")).isBetween(3960, 4040);
    assertThat(of(sums, "b")).isBetween(1980, 2020);
    assertThat(of(sums, "c")).isBetween(990, 1010);
    assertThat(order.subList(0, 70)).isNotEqualTo(order.subList(70, 140));
  }

  @Test
  void whatOneQueueCannotUseGoesToTheOthers() {
    ConfigFixture config =
        config(30, queue("a", 1), queue("b", 1))
            .job("j-a", new JobFixture("j-a").queue("a").only("db", "d1", "d2", "d3"));
    Map<String, Integer> starts = pass(core(config, 40, 6), new ArrayList<>());
    assertThat(starts).isEqualTo(Map.of("a", 3, "b", 27));
  }

  @Test
  void whatACapKeepsFromAQueueGoesToTheOthers() {
    QueueSpec capped = new QueueSpec("a", 0.1, Map.of(0, 4), Map.of());
    Map<String, Integer> starts =
        pass(core(config(30, capped, queue("b", 1)), 40, 6), new ArrayList<>());
    assertThat(starts).isEqualTo(Map.of("a", 4, "b", 26));
  }

  @Test
  void aSliceGoesOnWhereTheLastOneEnded() {
    SchedulingCore core = core(config(30, queue("a", 1), queue("b", 2)), 40, 7);
    int[] starts = new int[2];
    while (!core.round(policy(), 1, run -> starts[core.running().job(run)]++)) {
      assertThat(starts[0] + starts[1]).isLessThanOrEqualTo(30);
    }
    assertThat(starts).containsExactly(20, 10);
  }

  @Test
  void jobsOfAQueueTakeTurns() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("instance", "slots", 1)
            .queues(queue("a", 1))
            .job("x", new JobFixture("x").queue("a"))
            .job("y", new JobFixture("y").queue("a"))
            .job("z", new JobFixture("z").queue("a"));
    SchedulingCore core = core(config, 5, 8);
    List<String> order = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      core.round(policy(), 100, run -> order.add(core.running().jobName(run)));
      core.finish(core.running().all()[0], null);
    }
    assertThat(order).containsExactly("x", "y", "z", "x", "y", "z", "x");
  }

  /** Tasks of a minute on 40 slots, ends spread over the minute. */
  @Test
  void aQueueThatWasIdleForAnHourGetsMoreUntilPrioritiesConverge() {
    ConfigFixture config = config(40, queue("a", 1), queue("b", 1));
    SchedulingCore core = core(config, 100, 9);
    core.gates().close(Gate.of(GateKind.PAUSE, "j-b", ""));
    Simulation simulation = new Simulation(core);
    simulation.until(HOUR);
    assertThat(current(core, 0)).isEqualTo(0.5, within(1e-3));
    assertThat(current(core, 1)).isEqualTo(0);

    core.gates().open(GateKind.PAUSE, "j-b");
    Map<String, Integer> atFirst = simulation.until(HOUR + 10 * MINUTE);
    assertThat(of(atFirst, "b")).isGreaterThan(3 * of(atFirst, "a"));
    Map<String, Integer> later = simulation.until(2 * HOUR);
    assertThat(of(later, "b")).isGreaterThan(of(later, "a"));
    assertThat(of(later, "b")).isLessThan(3 * of(later, "a"));
    simulation.until(12 * HOUR);
    assertThat(current(core, 0)).isEqualTo(current(core, 1), within(0.01));
    assertThat(current(core, 0)).isEqualTo(0.5, within(0.02));
    Map<String, Integer> atLast = simulation.until(13 * HOUR);
    assertThat(of(atLast, "a") / (double) of(atLast, "b")).isEqualTo(1, within(0.05));
  }

  private static QueueSpec weighted(String name, double weight) {
    return new QueueSpec(name, 1, OptionalDouble.of(weight), Map.of(), Map.of(), Schedule.ALWAYS);
  }

  /**
   * After each start the quotients (P + U) / (2 * weight) of the two queues differ by at most what
   * one start moves them, 1/80 with 40 slots. On average over many half-lives P is U, so that |Ua/3
   * - Ub| is at most 1/80 and Ua + Ub is 1: Ub is 0.25, give or take 0.01, and Ua/Ub lies between
   * 2.85 and 3.17. Tasks take equally long, so starts do, too.
   */
  @Test
  void weightsOf3And1AreThreeStartsToOneUnderConstantLoad() {
    SchedulingCore core = core(config(40, weighted("a", 3), weighted("b", 1)), 100, 11);
    Simulation simulation = new Simulation(core);
    simulation.until(5 * HOUR);
    Map<String, Integer> starts = simulation.until(15 * HOUR);
    assertThat(of(starts, "a") / (double) of(starts, "b")).isBetween(2.85, 3.17);
    assertThat(core.capacity().queues()).extracting(QueueView::share).containsExactly(0.75, 0.25);
    assertThat(core.capacity().queues())
        .extracting(q -> q.weight().orElse(0))
        .containsExactly(3.0, 1.0);
  }

  /** Factors keep their meaning: the square root, as the documentation says. */
  @Test
  void factorsOf1And3AreTheSquareRootOf3ToOneUnderConstantLoad() {
    SchedulingCore core = core(config(40, queue("a", 1), queue("b", 3)), 100, 11);
    Simulation simulation = new Simulation(core);
    simulation.until(10 * HOUR);
    Map<String, Integer> starts = simulation.until(20 * HOUR);
    assertThat(of(starts, "a") / (double) of(starts, "b")).isEqualTo(Math.sqrt(3), within(0.1));
  }

  @Test
  void freeSlotsAreSharedOutByWeightWithinARound() {
    ConfigFixture config = config(40, weighted("a", 3), weighted("b", 1));
    assertThat(pass(core(config, 100, 12), new ArrayList<>())).isEqualTo(Map.of("a", 30, "b", 10));
  }

  @Test
  void tasksOfNoLengthAreSharedOutByWeightToo() {
    SchedulingCore core = core(config(1, weighted("a", 3), weighted("b", 1)), 5, 13);
    Map<String, Integer> sums = new TreeMap<>();
    List<Long> runs = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      pass(core, runs).forEach((queue, n) -> sums.merge(queue, n, Integer::sum));
      endAll(core, runs);
    }
    assertThat(of(sums, "a")).isBetween(299, 301);
  }

  @Test
  void aWeightedQueueThatWasIdleCatchesUp() {
    SchedulingCore core = core(config(40, weighted("a", 3), weighted("b", 1)), 100, 14);
    core.gates().close(Gate.of(GateKind.PAUSE, "j-b", ""));
    Simulation simulation = new Simulation(core);
    simulation.until(5 * HOUR);
    core.gates().open(GateKind.PAUSE, "j-b");
    Map<String, Integer> atFirst = simulation.until(5 * HOUR + 10 * MINUTE);
    assertThat(of(atFirst, "b")).isGreaterThan(of(atFirst, "a") / 3);
    simulation.until(15 * HOUR);
    Map<String, Integer> atLast = simulation.until(25 * HOUR);
    assertThat(of(atLast, "a") / (double) of(atLast, "b")).isBetween(2.85, 3.17);
  }

  @Test
  void whatAWeightedQueueCannotUseGoesToTheOthers() {
    ConfigFixture config =
        config(30, weighted("a", 9), weighted("b", 1))
            .job("j-a", new JobFixture("j-a").queue("a").only("db", "d1", "d2", "d3"));
    Map<String, Integer> starts = pass(core(config, 40, 6), new ArrayList<>());
    assertThat(starts).isEqualTo(Map.of("a", 3, "b", 27));
  }

  private static int of(Map<String, Integer> starts, String queue) {
    return starts.getOrDefault(queue, 0);
  }

  private static double current(SchedulingCore core, int queue) {
    return core.capacity().queues().get(queue).currentPriority();
  }

  /** Virtual time. */
  private final class Simulation {
    private final SchedulingCore core;
    private final Deque<List<Long>> running = new ArrayDeque<>();
    private long now;

    Simulation(SchedulingCore core) {
      this.core = core;
      for (int i = 0; i < 60; i++) {
        running.add(new ArrayList<>());
      }
    }

    /** Goes on second by second; returns the starts of each queue. */
    Map<String, Integer> until(long end) {
      Map<String, Integer> starts = new TreeMap<>();
      for (; now < end; now += 1000) {
        core.advance(now, 100);
        List<Long> ending = running.remove();
        endAll(core, ending);
        pass(core, ending).forEach((queue, n) -> starts.merge(queue, n, Integer::sum));
        running.add(ending);
      }
      return starts;
    }
  }

  // ---- batches

  @Test
  void aBatchCountsAsManyStartsAsItHasTasks() {
    ConfigFixture config = config(1_000_000, queue("a", 1), queue("b", 1));
    config.job(
        "j-a",
        new JobFixture("j-a").queue("a").batch(new BatchSpec(50, Optional.empty(), Duration.ZERO)));
    SchedulingCore core = core(config, 20_000, 5);
    int[] starts = new int[2];
    for (int slice = 0; slice < 100; slice++) {
      core.round(policy(), 100, run -> starts[core.running().job(run)]++);
    }
    // As in one slice: what a queue is ahead is at most a batch, over all slices.
    assertThat(starts[0] + starts[1]).isEqualTo(10_000);
    assertThat(starts[0]).isCloseTo(5_000, within(150));
  }
}
