package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Caps and use of queues in exact numbers (docs/design/features.md#queues). */
final class QueueCapsTest {
  private static final int SLOTS = 0;
  private static final long HOUR = 3_600_000;
  private static final TaskStatus DONE = TaskStatus.of(TaskStatus.Main.DONE, 0, 1);

  private final SchedulingCore core = new SchedulingCore(3);
  private long now = 1_000_000;

  /** 100 slots on 20 hosts, 20 tasks of each job. */
  private static ConfigFixture config(QueueSpec... queues) {
    return new ConfigFixture("host")
        .resource("host", "slots", 5)
        .resource("host", "disk", 2, 0)
        .queues(queues)
        .job("a", new JobFixture("a").queue("etl"))
        .job("b", new JobFixture("b").queue("etl").needs("slots", 0))
        .job("c", new JobFixture("c"));
  }

  private static QueueSpec etl(Map<Integer, Integer> slots, Map<Integer, Double> parts) {
    return new QueueSpec("etl", 1, slots, parts);
  }

  private static Topology hosts(ConfigFixture config, int count) {
    String[] names = new String[count];
    for (int i = 0; i < count; i++) {
      names[i] = "h" + i;
    }
    return TreeFixture.of(config.levels(), names);
  }

  private void apply(ConfigFixture config, int hosts) {
    core.apply(config.build(), hosts(config, hosts), now);
  }

  private void round() {
    assertThat(core.round(TestPolicies.IN_TURN, 1000, run -> {})).isTrue();
    core.verify();
  }

  private long running(String job) {
    long n = 0;
    for (long run : core.running().all()) {
      n += core.running().jobName(run).equals(job) ? 1 : 0;
    }
    return n;
  }

  private QueueView etl() {
    return core.capacity().queues().stream()
        .filter(q -> q.name().equals("etl"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aCapOf0NeverLetsAnythingStartThatNeedsTheResource() {
    apply(config(etl(Map.of(SLOTS, 0), Map.of())), 20);
    round();
    assertThat(running("a")).isZero();
    assertThat(running("b")).as("needs none").isEqualTo(20);
    assertThat(running("c")).as("of another queue").isEqualTo(20);
    Explanation explanation = core.tasks().explain("a", "h3");
    assertThat(explanation.startable()).isFalse();
    assertThat(explanation.reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Kind.QUEUE_LIMIT);
              assertThat(reason.resource()).isEqualTo("slots");
              assertThat(reason.message())
                  .isEqualTo("needs 1 of slots, the queue etl holds 0 and may hold 0");
            });
  }

  @Test
  void theSmallerOfBothCapsCountsRoundedDown() {
    apply(config(etl(Map.of(SLOTS, 7), Map.of(SLOTS, 0.069))), 20);
    round();
    assertThat(running("a")).isEqualTo(6);
    assertThat(core.tasks().explain("a", lastFree()).reasons().get(0).message())
        .isEqualTo("needs 1 of slots, the queue etl holds 6 and may hold 6 of the 100 in all");
  }

  private String lastFree() {
    for (int i = 0; i < 20; i++) {
      if (core.tasks().explain("a", "h" + i).status().equals("unstarted")) {
        return "h" + i;
      }
    }
    throw new AssertionError("all run");
  }

  @Test
  void partsAreDecimalNotBinary() {
    apply(config(etl(Map.of(), Map.of(SLOTS, 0.29))), 20);
    assertThat(etl().resources().get(0)).isEqualTo(new QueueView.Held("slots", 0, 29, 100));
  }

  @Test
  void theUseOfAResourceIsSummedOverAllQueuesAndOrphans() {
    ConfigFixture config = config(etl(Map.of(SLOTS, 7), Map.of()));
    apply(config, 20);
    round();
    assertThat(core.capacity().resources())
        .containsExactly(
            new ResourceUse("host", "slots", 27, 100), new ResourceUse("host", "disk", 0, 40));
    core.limits().override(new LimitOverride("host", "slots", "h1", 45, "", "", now, 0));
    assertThat(core.stepLimits(1000)).isTrue();
    assertThat(core.capacity().resources()).contains(new ResourceUse("host", "slots", 27, 140));
    apply(
        new ConfigFixture("host")
            .resource("host", "slots", 5)
            .job("a", new JobFixture("a").queue("etl")),
        20);
    assertThat(core.capacity().resources())
        .as("with the tasks of jobs that are gone")
        .containsExactly(new ResourceUse("host", "slots", 27, 140));
  }

  @Test
  void slotsInAllFollowOverridesAndNodes() {
    apply(config(etl(Map.of(), Map.of(SLOTS, 0.1))), 20);
    round();
    assertThat(running("a")).isEqualTo(10);
    core.limits().override(new LimitOverride("host", "slots", "h1", 45, "", "", now, 0));
    assertThat(core.stepLimits(1000)).isTrue();
    round();
    assertThat(running("a")).as("a tenth of 140").isEqualTo(14);
    core.limits().override(new LimitOverride("host", "slots", "", 2, "", "", now, 0));
    assertThat(core.stepLimits(1000)).isTrue();
    round();
    assertThat(running("a")).as("nothing is killed").isEqualTo(14);
    assertThat(etl().resources().get(0)).isEqualTo(new QueueView.Held("slots", 14, 8, 83));
    apply(config(etl(Map.of(), Map.of(SLOTS, 0.1))), 100);
    assertThat(etl().resources().get(0)).isEqualTo(new QueueView.Held("slots", 14, 24, 243));
    round();
    assertThat(running("a")).isEqualTo(24);
  }

  @Test
  void capsChangeInPlace() {
    apply(config(etl(Map.of(SLOTS, 3), Map.of())), 20);
    round();
    assertThat(running("a")).isEqualTo(3);
    apply(config(etl(Map.of(SLOTS, 5), Map.of())), 20);
    round();
    assertThat(running("a")).isEqualTo(5);
    apply(config(etl(Map.of(), Map.of())), 20);
    round();
    assertThat(running("a")).isEqualTo(20);
  }

  @Test
  void tasksOfARemovedJobGoOnHoldingWhatIsTheirQueues() {
    QueueSpec etl = etl(Map.of(SLOTS, 5), Map.of());
    apply(config(etl), 20);
    round();
    apply(config(etl).withoutJob("a").job("d", new JobFixture("d").queue("etl")), 20);
    round();
    assertThat(running("a")).isEqualTo(5);
    assertThat(running("d")).isZero();
    for (long run : core.running().all()) {
      if (core.running().jobName(run).equals("a")) {
        core.finish(run, null);
      }
    }
    round();
    assertThat(running("d")).isEqualTo(5);
  }

  @Test
  void aTaskThatIsFoundOfAJobThatIsGoneCountsForNoQueue() {
    apply(config(etl(Map.of(), Map.of())), 2);
    ConfigFixture without = config(etl(Map.of(), Map.of())).withoutJob("b");
    apply(without, 2);
    core.adopt("b", "h0", WorkerRef.LOCAL);
    assertThat(etl().running()).isZero();
    apply(without, 3);
    assertThat(etl().running()).isZero();
    core.verify();
  }

  @Test
  void useIsTheLargestPartOfAnyResource() {
    ConfigFixture config =
        config(etl(Map.of(SLOTS, 8), Map.of()))
            .job("a", new JobFixture("a").queue("etl").needs("slots", 2).needs("disk", 1));
    apply(config.withoutJob("b").withoutJob("c"), 20);
    round();
    assertThat(etl().running()).isEqualTo(4);
    assertThat(etl().resources())
        .containsExactly(
            new QueueView.Held("slots", 8, 8, 100), new QueueView.Held("disk", 4, -1, 40));
    assertThat(etl().use()).as("4 of 40 is more than 8 of 100").isEqualTo(0.1);
  }

  @Test
  void whatWasUsedIsKeptOverChangesAndWhileAQueueIsGone() {
    apply(config(etl(Map.of(SLOTS, 50), Map.of())), 20);
    round();
    assertThat(etl().use()).isEqualTo(0.2);
    now += HOUR;
    core.advance(now, 100);
    assertThat(etl().currentPriority()).isEqualTo(0.1, within(1e-9));
    apply(config(etl(Map.of(SLOTS, 50), Map.of())), 21);
    assertThat(etl().currentPriority()).isEqualTo(0.1, within(1e-9));
    for (long run : core.running().all()) {
      core.finish(run, null);
    }
    apply(new ConfigFixture("host").resource("host", "slots", 5).job("c"), 20);
    now += HOUR;
    core.advance(now, 100);
    assertThat(core.capacity().queueUsage())
        .contains(new QueueUsage("default", usage("default"), now));
    assertThat(usage("etl")).isEqualTo(0.05, within(1e-9));
    now += HOUR;
    core.advance(now, 100);
    apply(config(etl(Map.of(SLOTS, 50), Map.of())), 20);
    assertThat(etl().currentPriority()).isEqualTo(0.025, within(1e-9));
    assertThat(etl().effectivePriority()).isEqualTo(0.025, within(1e-9));
  }

  private double usage(String queue) {
    return core.capacity().queueUsage().stream()
        .filter(usage -> usage.queue().equals(queue))
        .mapToDouble(QueueUsage::value)
        .sum();
  }

  @Test
  void whatWasStoredBeforeARestartDecaysOverTheTimeWithoutAScheduler() {
    core.restoreQueueUsage(List.of(new QueueUsage("etl", 0.8, now - 2 * HOUR)), now);
    apply(config(etl(Map.of(), Map.of())), 20);
    assertThat(etl().currentPriority()).isEqualTo(0.2, within(1e-9));
  }

  private ConfigFixture withHalfLife(Duration halfLife, QueueSpec... queues) {
    return config(queues)
        .rules(LimitRules.NONE.withQueues(List.of(queues)).withPriorityHalfLife(halfLife));
  }

  /** In place and with other nodes. */
  @Test
  void anotherHalfLifeHoldsFromThenOnAndNotBackwards() {
    QueueSpec etl = etl(Map.of(SLOTS, 50), Map.of());
    apply(withHalfLife(Duration.ofHours(1), etl), 20);
    round();
    assertThat(etl().use()).isEqualTo(0.2);
    later(HOUR);
    apply(withHalfLife(Duration.ofHours(2), etl), 20);
    assertThat(etl().currentPriority()).isEqualTo(0.1, within(1e-9));
    later(2 * HOUR);
    assertThat(etl().currentPriority()).isEqualTo(0.15, within(1e-9));
    apply(withHalfLife(Duration.ofHours(1), etl), 20);
    later(HOUR);
    for (long run : core.running().all()) {
      core.finish(run, DONE);
    }
    assertThat(etl().currentPriority()).isEqualTo(0.175, within(1e-9));
    later(HOUR);
    assertThat(etl().currentPriority()).isEqualTo(0.0875, within(1e-9));
    apply(withHalfLife(Duration.ofHours(3), etl), 21);
    assertThat(etl().currentPriority()).isEqualTo(0.0875, within(1e-9));
    later(3 * HOUR);
    assertThat(etl().currentPriority()).isEqualTo(0.04375, within(1e-9));
  }

  @Test
  void anotherHalfLifeHoldsNotBackwardsEitherForAQueueThatIsGone() {
    QueueSpec other = new QueueSpec("other", 1, Map.of(), Map.of());
    core.restoreQueueUsage(List.of(new QueueUsage("etl", 0.8, now)), now);
    apply(withoutEtl(withHalfLife(Duration.ofHours(1), other)), 20);
    later(HOUR);
    assertThat(usage("etl")).isEqualTo(0.4, within(1e-9));
    apply(withoutEtl(withHalfLife(Duration.ofHours(2), other)), 20);
    assertThat(usage("etl")).as("changed in place").isEqualTo(0.4, within(1e-9));
    later(2 * HOUR);
    apply(withoutEtl(withHalfLife(Duration.ofHours(1), other)), 21);
    assertThat(usage("etl")).as("with other nodes").isEqualTo(0.2, within(1e-9));
  }

  private static ConfigFixture withoutEtl(ConfigFixture config) {
    return config.withoutJob("a").withoutJob("b");
  }

  private void later(long millis) {
    now += millis;
    core.advance(now, 100);
  }
}
