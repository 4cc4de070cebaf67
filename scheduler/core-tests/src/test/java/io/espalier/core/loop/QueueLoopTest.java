package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.QueueUsage;
import org.junit.jupiter.api.Test;

/**
 * Queues through the loop: caps that change, and history that outlives a crash
 * (docs/design/features.md#history-of-queues).
 */
final class QueueLoopTest {
  private static final double HALF_LIFE = 60_000;

  private final LoopWorld world = new LoopWorld();

  /** Six slots, of which the job's queue may hold some. */
  private static String config(int cap) {
    return """
    {"bistro_settings": {"nodes": {"levels": ["host"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs": {"h1": [], "h2": [], "h3": []}}]},
       "scheduler": "fair_share", "priority_half_life_sec": 60,
       "resources": {"host": {"slots": {"default": 1, "limit": 2}}},
       "queues": {"etl": {"max_slots": {"slots": CAP}}, "web": {}}},
     "bistro_job->j": {"owner": "o", "queue": "etl", "command": ["x"]}}
    """
        .replace("CAP", Integer.toString(cap));
  }

  private double usage(String queue) {
    return world.core.capacity().queueUsage().stream()
        .filter(usage -> usage.queue().equals(queue))
        .mapToDouble(QueueUsage::value)
        .sum();
  }

  private static double decayed(double value, long millis) {
    return value * Math.pow(0.5, millis / HALF_LIFE);
  }

  @Test
  void aRaisedCapStartsMoreAtOnceAndALoweredOneKillsNothing() {
    world.configure(config(1));
    assertThat(world.running).containsOnlyKeys(new TaskKey("j", "h1"));
    world.configure(config(3));
    assertThat(world.running).hasSize(3);
    world.configure(config(0));
    assertThat(world.running).hasSize(3);
    assertThat(world.kills).isEmpty();
    world.writes("j", "h1", "error_backoff");
    world.advance(1_000_000);
    assertThat(world.running).hasSize(2);
    world.core.verify();
  }

  @Test
  void aCrashLosesOneSampleAtMostAndTheTimeWithoutASchedulerCountsAsIdle() {
    world.configure(config(3));
    for (int second = 0; second < 65; second++) {
      world.advance(1000);
    }
    double before = usage("etl");
    assertThat(before).isEqualTo(0.5 - decayed(0.5, 65_000), within(1e-9));
    QueueUsage stored =
        world.queueUsage.stream().filter(u -> u.queue().equals("etl")).findFirst().orElseThrow();
    assertThat(world.now - stored.atMillis()).isBetween(0L, 10_000L);

    world.running.clear();
    world.now += 120_000;
    world.crashAndRestart();
    world.settle();
    world.configure(config(0));
    assertThat(usage("etl"))
        .isEqualTo(decayed(stored.value(), world.now - stored.atMillis()), within(1e-9));
    assertThat(usage("etl")).isEqualTo(decayed(before, 120_000), within(0.5 * 10 / 60));
  }

  @Test
  void nothingIsWrittenWhileNothingRuns() {
    world.configure(config(3));
    world.writes("j", "h1", "done");
    world.writes("j", "h2", "done");
    world.writes("j", "h3", "done");
    world.advance(10_000);
    int samples = world.queueSamples;
    assertThat(samples).isPositive();
    for (int i = 0; i < 10; i++) {
      world.advance(10_000);
    }
    assertThat(world.queueSamples).isLessThanOrEqualTo(samples + 1);
  }

  @Test
  void aStopStoresWhatWasUsed() {
    world.configure(config(3));
    world.advance(10_000);
    int samples = world.queueSamples;
    world.advance(5_000);
    assertThat(world.queueSamples).isEqualTo(samples);
    world.post(new LoopInput.Stop());
    world.settle();
    assertThat(world.queueSamples).isEqualTo(samples + 1);
    assertThat(world.queueUsage).contains(new QueueUsage("etl", usage("etl"), world.now));
  }
}
