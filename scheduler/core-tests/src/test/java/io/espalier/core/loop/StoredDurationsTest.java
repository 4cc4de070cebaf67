package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.status.store.JobDurations;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is stored of durations (docs/windows.md#tasks-that-would-not-end-in-time). */
class StoredDurationsTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {"h1": [], "h2": []}}]},
         "resources": {}},
       "bistro_job->j": {"owner": "o", "windows": ["20:00-22:00 UTC"], "command": ["/x"]}}
      """;

  private final LoopWorld world = new LoopWorld();

  @Test
  void theyAreStoredWhenTheSchedulerStops() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(CONFIG);
    world.advance(40_000);
    world.writes("j", "h1", "done");
    assertThat(world.durations).as("at most once a minute").isEmpty();
    world.loop.stop();
    world.settle();
    assertThat(world.durations).containsOnlyKeys("j");
    Map<String, JobDurations> before = Map.copyOf(world.durations);
    world.crashAndRestart();
    world.at("2026-11-23T21:59:30Z");
    world.configure(CONFIG);
    assertThat(world.warnings).isEmpty();
    assertThat(world.running).as("h2 would take 40 s, and 30 are left").isEmpty();
    assertThat(world.durations).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "1", "40 -3", "999 1", "40 999999999", "40 3 "})
  void aWarningNamesTheJobWhoseDurationsCannotBeRead(String stored) {
    world.at("2026-11-23T20:00:00Z");
    world.durations.put("j", new JobDurations("j", stored, ""));
    world.durations.put("good", new JobDurations("good", "40 3", "41 1"));
    world.crashAndRestart();
    assertThat(world.warnings)
        .singleElement()
        .asString()
        .startsWith("j/: the durations in the status store (table duration) cannot be read");
    world.configure(CONFIG);
    assertThat(world.running).as("nothing is known of them").hasSize(2);
  }
}
