package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.QueueUsage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code fair_share} through the loop, in virtual time: where shares go, and by which numbers. */
final class FairShareLoopTest {
  private static final double HALF_LIFE_SECONDS = 20;
  private static final int SLOTS = 8;

  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host"], "node_sources": [
           {"source": "range_label",
            "prefs": {"parent_level": "instance", "start": 1, "end": 40}}]},
         "scheduler": "fair_share", "priority_half_life_sec": 20,
         "resources": {"instance": {"slots": {"default": 1, "limit": 8}}},
         "queues": {"often": {"priority_factor": 1}, "seldom": {"priority_factor": 9}}},
       "bistro_job->a": {"owner": "o", "queue": "often", "command": ["x"]},
       "bistro_job->b": {"owner": "o", "queue": "seldom", "command": ["x"]}}
      """;

  private final LoopWorld world = new LoopWorld();
  private final Map<String, Integer> starts = new HashMap<>();
  private final Map<String, Double> expected = new HashMap<>();
  private int seen;

  private long running(String job) {
    return world.running.keySet().stream().filter(task -> task.job().equals(job)).count();
  }

  /** All that run end one after the other; each end is a slot for somebody. */
  private void second() {
    for (TaskKey task : List.copyOf(world.running.keySet())) {
      world.writes(task.job(), task.node(), "incomplete");
    }
    for (; seen < world.launches.size(); seen++) {
      starts.merge(world.launches.get(seen).job(), 1, Integer::sum);
    }
    for (QueueUsage usage : world.core.capacity().queueUsage()) {
      double before = expected.getOrDefault(usage.queue(), 0.0);
      assertThat(usage.value()).as("%s now", usage.queue()).isEqualTo(before, within(1e-12));
    }
    expect("often", (double) running("a") / SLOTS);
    expect("seldom", (double) running("b") / SLOTS);
    world.advance(1_000);
  }

  /**
   * What use makes of a priority in one second (docs/design/features.md#priority-with-a-memory).
   */
  private void expect(String queue, double use) {
    double before = expected.getOrDefault(queue, 0.0);
    expected.put(queue, use + (before - use) * Math.pow(0.5, 1 / HALF_LIFE_SECONDS));
  }

  @Test
  void startsConvergeToThreeToOneWhereFactorsAreOneToNine() {
    world.configure(CONFIG);
    for (int second = 0; second < 60; second++) {
      second();
    }
    // Where it comes to rest starts are as use is: s = 1 / (factor * s), up to the sum.
    starts.clear();
    for (int second = 0; second < 160; second++) {
      second();
      assertThat(world.running).hasSize(SLOTS);
    }
    int often = starts.getOrDefault("a", 0);
    int seldom = starts.getOrDefault("b", 0);
    assertThat(often + seldom).isEqualTo(160 * SLOTS);
    assertThat((double) often / seldom).isEqualTo(3, within(0.05));
    assertThat(expected.getOrDefault("often", 0.0)).isEqualTo(0.75, within(0.03));
    assertThat(expected.getOrDefault("seldom", 0.0)).isEqualTo(0.25, within(0.03));
  }

  @Test
  void whoCameLateCatchesUpAndIsNotAheadForEver() {
    world.configure(
        CONFIG.replace("9}}", "1}}").replace("job->b\": {", "job->b\": {\"enabled\": false, "));
    for (int second = 0; second < 60; second++) {
      second();
    }
    assertThat(starts).containsOnlyKeys("a");
    world.configure(CONFIG.replace("9}}", "1}}"));
    starts.clear();
    for (int second = 0; second < 6; second++) {
      second();
    }
    assertThat(starts.getOrDefault("b", 0)).isGreaterThan(3 * starts.getOrDefault("a", 0));
    for (int second = 0; second < 90; second++) {
      second();
    }
    starts.clear();
    for (int second = 0; second < 100; second++) {
      second();
    }
    assertThat((double) starts.getOrDefault("a", 0) / starts.getOrDefault("b", 0))
        .isEqualTo(1, within(0.02));
  }
}
