package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.LimitRules;
import io.espalier.core.config.Resource;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Where more than a limit is in use, since when, and by whom; and numbers at the edge of an int.
 */
final class OverLimitCountsTest {
  private static final int HUGE = Integer.MAX_VALUE;

  private final SchedulingCore core = new SchedulingCore(5);

  private static LimitRules killing(String... resources) {
    Map<String, Duration> after = new HashMap<>();
    for (String resource : resources) {
      after.put(resource, Duration.ofSeconds(10));
    }
    return LimitRules.NONE.withKillOverLimit(after);
  }

  private void override(String level, String resource, String node, int limit) {
    core.limits().override(new LimitOverride(level, resource, node, limit, "", "", 0, 0));
    while (!core.stepLimits(50)) {
      // In slices.
    }
    core.verify();
  }

  private int round() {
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 1000, starts::add)).isTrue();
    return starts.size();
  }

  private OverLimitScan.Found onlyPlace(long now) {
    OverLimitScan scan = core.overLimits(now);
    while (!scan.step(1)) {
      // In slices.
    }
    assertThat(scan.found()).hasSize(1);
    return scan.found().get(0);
  }

  @Test
  void adoptedTasksBeyondALimitAreOverItFromThen() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 1)
            .resource("host", "other", 0)
            .rules(killing("slots"))
            .job("j", new JobFixture("j"));
    core.apply(config.build(), TreeFixture.of(config.levels(), "h/a", "h/b", "h/c", "g/d"), 100);
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(Long.MAX_VALUE);
    core.adopt("j", "a", WorkerRef.LOCAL);
    core.setClock(5_000);
    core.adopt("j", "b", WorkerRef.LOCAL);
    core.setClock(7_000);
    long last = core.adopt("j", "c", WorkerRef.LOCAL);
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(15_000);
    OverLimitScan.Found place = onlyPlace(15_000);
    assertThat(List.of(place.level(), place.node(), place.resource()))
        .containsExactly("host", "h", "slots");
    assertThat(List.of(place.used(), place.limit(), place.holders())).containsExactly(3, 1, 3);
    assertThat(place.sinceMillis()).isEqualTo(5_000);
    assertThat(core.overLimits(14_999).found()).isEmpty();
    core.finish(last, null);
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(15_000);
    core.finish(core.running().find(core.findJob("j"), core.topology().find(2, "b")), null);
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aNewTreeKeepsTheTimesOfTheNodesThatStay() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 2)
            .rules(killing("slots"))
            .job("j", new JobFixture("j"));
    core.apply(config.build(), TreeFixture.of(config.levels(), "h/a", "h/b", "g/c", "g/d"), 0);
    assertThat(round()).isEqualTo(4);
    core.setClock(1_000);
    override("host", "slots", "g", 1);
    core.setClock(2_000);
    override("host", "slots", "h", 1);
    core.setClock(3_000);
    core.apply(
        config.build(), TreeFixture.of(config.levels(), "x/y", "h/a", "h/b", "g/c", "g/d"), 3_000);
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(11_000);
    core.apply(config.build(), TreeFixture.of(config.levels(), "h/a", "h/b"), 4_000);
    core.verify();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(12_000);
  }

  @Test
  void workersCountToo() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 3)
            .rules(killing("ram"))
            .job("j", new JobFixture("j"));
    core.workers(List.of(WorkerInfo.of(new WorkerRef("w1", 1), "h1").address("h1:1").build()));
    core.apply(config.build(), TreeFixture.of(config.levels(), "a", "b", "c"), 0);
    assertThat(round()).isEqualTo(3);
    core.setClock(4_000);
    override("worker", "ram", "w1", 1);
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(14_000);
    OverLimitScan.Found place = onlyPlace(14_000);
    assertThat(List.of(place.level(), place.node(), place.used(), place.limit(), place.holders()))
        .containsExactly("worker", "w1", 3, 1, 3);
    core.limits().endOverride(new LimitOverride.Key("worker", "ram", "w1"));
    assertThat(core.stepLimits(1000)).isTrue();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void whatIsAdoptedNeverMakesCountsRunOver() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("instance", "all", HUGE)
            .resource("host", "slots", 0)
            .resource("worker", "ram", 0)
            .rules(killing("slots"))
            .job(
                "j", new JobFixture("j").needs("slots", HUGE).needs("all", HUGE).needs("ram", HUGE))
            .job("k", new JobFixture("k").needs("slots", 1).needs("all", 0).needs("ram", 0));
    core.workers(List.of(worker()));
    core.apply(config.build(), TreeFixture.of(config.levels(), "h/a", "h/b", "h/c"), 0);
    List<Long> runs = new ArrayList<>();
    for (String node : List.of("a", "b", "c")) {
      runs.add(core.adopt("j", node, new WorkerRef("w1", 1)));
      core.verify();
    }
    int host = core.topology().find(1, "h");
    int slots = resource("slots");
    assertThat(core.capacity().free(host, slots)).isEqualTo(-HUGE);
    override("host", "slots", "", HUGE);
    assertThat(core.capacity().free(host, slots)).isZero();
    override("host", "slots", "", 0);
    core.apply(config.build(), TreeFixture.of(config.levels(), "h/a", "h/b", "h/c", "g/d"), 0);
    core.verify();
    assertThat(round()).isZero();
    runs.forEach(run -> core.finish(run, null));
    core.verify();
    host = core.topology().find(1, "h");
    assertThat(core.capacity().free(host, slots)).isZero();
    override("host", "slots", "h", HUGE);
    override("worker", "ram", "w1", HUGE);
    assertThat(round()).as("one of j in all").isEqualTo(1);
    core.verify();
  }

  private int resource(String name) {
    Resource resource = core.config().settings().resources().find(name);
    if (resource == null) {
      throw new AssertionError(name);
    }
    return resource.index();
  }

  private static WorkerInfo worker() {
    return WorkerInfo.of(new WorkerRef("w1", 1), "h1").address("h1:1").build();
  }
}
