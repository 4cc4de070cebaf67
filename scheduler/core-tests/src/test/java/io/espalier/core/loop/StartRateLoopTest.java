package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.running.TaskResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Caps and rates through the loop: it sleeps until the next token, no longer and no shorter. */
class StartRateLoopTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"h": ["a", "b", "c", "d", "e", "f"]}}]},
         "resources": {}, "backoff": [1, "repeat"] %s},
       "bistro_job->j": {"owner": "o" %s}}
      """;

  private final LoopWorld world = new LoopWorld();
  private final List<Long> starts = new ArrayList<>();

  private static String config(String settings, String job) {
    return CONFIG.formatted(settings, job);
  }

  /** Sleeps as long as the loop says. */
  private void runFor(long millis) {
    long end = world.now + millis;
    while (world.now <= end) {
      int before = world.launches.size();
      world.settle();
      for (int i = before; i < world.launches.size(); i++) {
        starts.add(world.now - 1_000_000);
      }
      long pause = world.step().toMillis();
      world.now = Math.min(end + 1, world.now + Math.max(1, pause));
    }
    world.now = end;
  }

  @Test
  void aJobStartsATaskWithEachToken() {
    world.configure(config("", ", \"start_rate\": {\"per_second\": 4, \"burst\": 1}"));
    runFor(1000);
    assertThat(starts).containsExactly(250L, 500L, 750L, 1000L);
    assertThat(world.loop.stats().heldJobs()).isEqualTo(1);
    assertThat(world.loop.isQuiet()).isFalse();
  }

  @Test
  void whatWaitsForItsFirstTokenIsNotTheEnd() {
    world.configure(config("", ", \"start_rate\": {\"per_second\": 4, \"burst\": 1}"));
    runFor(100);
    assertThat(starts).isEmpty();
    assertThat(world.loop.isQuiet()).isFalse();
  }

  @Test
  void aHostStartsATaskWithEachToken() {
    world.configure(config(", \"start_rates\": {\"host\": 2}", ""));
    runFor(1000);
    assertThat(starts).containsExactly(500L, 1000L);
    assertThat(world.loop.stats().heldNodes()).isEqualTo(1);
    assertThat(world.core.tasks().explain("j", "f").reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Kind.START_RATE);
              assertThat(reason.node()).isEqualTo("h");
              assertThat(reason.untilMillis()).isEqualTo(1_001_500);
            });
  }

  @Test
  void aSchedulerThatCrashesAgainAndAgainStartsNothingMoreThanTheRate() {
    String config = config("", ", \"start_rate\": {\"per_second\": 1, \"burst\": 5}");
    for (int i = 0; i < 10; i++) {
      world.configure(config);
      runFor(990);
      world.crashAndRestart();
    }
    assertThat(starts).isEmpty();
    world.configure(config);
    runFor(1000);
    assertThat(starts).hasSize(1);
  }

  @Test
  void aStartThatFailsToLaunchCostsItsToken() {
    world.configure(config("", ", \"start_rate\": 1"));
    runFor(1000);
    world.end("j", "a", TaskResult.Kind.EXITED, null, 1);
    runFor(3000);
    assertThat(starts).containsExactly(1000L, 2000L, 3000L, 4000L);
  }

  @Test
  void aReloadRaisesAndLowersTheCapAtOnceAndKillsNothing() {
    world.configure(config("", ", \"max_concurrent\": 2"));
    assertThat(world.running).hasSize(2);
    world.configure(config("", ", \"max_concurrent\": 4"));
    assertThat(world.running).hasSize(4);
    world.configure(config("", ", \"max_concurrent\": 1"));
    assertThat(world.running).hasSize(4);
    assertThat(world.kills).isEmpty();
    for (String node : List.of("a", "b", "c")) {
      world.writes("j", node, "done");
      assertThat(world.launches).hasSize(4);
    }
    world.writes("j", "d", "done");
    assertThat(world.launches).hasSize(5);
  }

  @Test
  void aReloadThatAddsARateCountsFromThatInstant() {
    world.configure(config("", ", \"max_concurrent\": 1"));
    world.advance(777);
    world.configure(config("", ", \"start_rate\": 1"));
    runFor(1013);
    assertThat(starts).containsExactly(1780L);
  }
}
