package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code kill_over_limit_after_sec}. */
class OverLimitTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
         "node_sources": [
           {"source": "manual", "prefs": {"h1": ["a", "b", "c", "d"], "h2": ["e", "f"]}}]},
         "resources": {
           "instance": {"all": {"default": 1, "limit": 9ALL}},
           "host": {"slots": {"default": 1, "limit": 1SLOTS}}}},
       "bistro_job->j": {"owner": "o", "backoff": [1, 2, "fail"], "command": ["x"]JOB}}
      """;

  private static final String KILL = ", \"kill_over_limit_after_sec\": 60";

  private final LoopWorld world = new LoopWorld();

  private static String config(String all, String slots, String job) {
    return CONFIG.replace("ALL", all).replace("SLOTS", slots).replace("JOB", job);
  }

  private void limit(String level, String resource, String node, int limit) {
    world.done(
        new Command.SetLimit(new LimitOverride(level, resource, node, limit, "ann", "", 0, 0), 0));
  }

  private void slots(int limit) {
    limit("host", "slots", "h1", limit);
  }

  /** Tasks of h1 with ten seconds between their starts. */
  private void threeStart() {
    world.advance(10_000);
    slots(2);
    world.advance(10_000);
    slots(3);
    world.advance(10_000);
  }

  @Test
  void theYoungestAreKilledWhenTheLimitWasLowerForSoLong() {
    world.configure(config("", KILL, ""));
    threeStart();
    slots(1);
    world.advance(59_999);
    assertThat(world.kills).isEmpty();
    Explanation.Reason waits = world.core.tasks().explain("j", "d").reasons().get(0);
    assertThat(waits.message())
        .contains(", 0 of 1 are free")
        .endsWith(
            "; the youngest of those that hold it are killed from 1970-01-01T00:18:10Z on,"
                + " until the limit is kept");
    world.advance(1);
    assertThat(world.kills).containsExactly("j/c term", "j/b term");
    Event event = world.newest("over_limit_killed");
    assertThat(event.data().get("resource")).isEqualTo(Json.of("slots"));
    assertThat(event.data().get("over_node")).isEqualTo(Json.of("h1"));
    assertThat(event.data().get("used")).isEqualTo(Json.of(3));
    assertThat(event.data().get("limit")).isEqualTo(Json.of(1));
    assertThat(world.warnings).hasSize(2).allMatch(w -> w.contains("its limit is 1"));

    world.end("j", "c", TaskResult.Kind.KILLED, null, null);
    world.end("j", "b", TaskResult.Kind.KILLED, null, null);
    TaskStatus killed = world.row("j", "c").status();
    assertThat(StatusLabel.of(killed.bits()).word()).isEqualTo("incomplete_backoff");
    assertThat(killed.position()).as("as of other kills").isEqualTo(1);
    assertThat(world.newest("task_ended").data().get("stop_reason"))
        .isEqualTo(Json.of("over_limit"));
    assertThat(world.core.tasks().explain("j", "c").reasons().get(0).message())
        .contains(
            "killed as one of the youngest: 3 of slots were in use on h1 of level host for"
                + " 60 s, its limit is 1");
    world.advance(600_000);
    assertThat(world.kills).hasSize(2);
    assertThat(world.running).containsKey(key("a"));
    slots(3);
    slots(1);
    world.advance(60_000);
    assertThat(world.kills).hasSize(4);
    world.end("j", "c", TaskResult.Kind.KILLED, null, null);
    assertThat(world.row("j", "c").status().position()).as("the step is kept").isEqualTo(1);
  }

  private static TaskKey key(String node) {
    return new TaskKey("j", node);
  }

  @Test
  void withoutTheKeyNothingIsKilled() {
    world.configure(config("", "", ""));
    threeStart();
    slots(0);
    world.advance(10_000_000);
    assertThat(world.kills).isEmpty();
  }

  @Test
  void theTimeBeginsAnewOnceTheLimitWasKept() {
    world.configure(config("", KILL, ""));
    threeStart();
    slots(2);
    world.advance(50_000);
    slots(3);
    slots(2);
    world.advance(50_000);
    assertThat(world.kills).isEmpty();
    world.writes("j", "a", "done");
    world.advance(100_000);
    assertThat(world.kills).as("two of two are in use").isEmpty();
    slots(0);
    slots(1);
    world.advance(60_000);
    assertThat(world.kills).containsExactly("j/c term");
  }

  @Test
  void aChangeOfTheConfigurationKeepsTheTimeAndTheKeyMayComeLater() {
    world.configure(config("", "", ""));
    threeStart();
    slots(2);
    world.advance(30_000);
    world.configure(config("", KILL, ""));
    world.advance(10_000);
    world.configure(config("", KILL, ", \"filters\": {\"db\": {\"blacklist\": [\"d\"]}}"));
    world.advance(19_999);
    assertThat(world.kills).isEmpty();
    world.advance(1);
    assertThat(world.kills).containsExactly("j/c term");
  }

  @Test
  void aLimitThatTheConfigurationLowersCountsTheSame() {
    world.configure(config("", KILL, "").replace("\"limit\": 1,", "\"limit\": 3,"));
    assertThat(world.running).hasSize(5);
    world.configure(
        config("", KILL, "")
            .replace("\"limit\": 1,", "\"limit\": 3,")
            .replace(
                "\"resources\"",
                "\"node_resources_override\": [{\"level\": \"host\", \"regex\": \"1$\","
                    + " \"limits\": {\"slots\": 2}}], \"resources\""));
    world.advance(60_000);
    assertThat(world.kills).as("of the same age the last by name").containsExactly("j/c term");
  }

  @Test
  void whatIsGivenBackBelowCountsAboveAndWhoIsBeingKilledCountsOnce() {
    world.configure(config(KILL, KILL, ""));
    threeStart();
    assertThat(world.running).hasSize(4);
    slots(2);
    limit("instance", "all", "", 2);
    world.advance(60_000);
    assertThat(world.kills).containsExactly("j/c term", "j/b term");
    world.advance(5_000);
    assertThat(world.kills).as("they are ending").hasSize(2);
    world.end("j", "c", TaskResult.Kind.KILLED, null, null);
    limit("instance", "all", "", 1);
    world.advance(1_000);
    assertThat(world.kills).as("lowered once more").hasSize(3);
  }

  @Test
  void whileTheSchedulerIsDisabledNothingIsKilled() {
    world.configure(config("", KILL, ""));
    threeStart();
    slots(1);
    world.configure(config("", KILL, "").replace("{\"nodes\"", "{\"enabled\": false, \"nodes\""));
    world.advance(600_000);
    assertThat(world.kills).isEmpty();
    world.configure(config("", KILL, ""));
    assertThat(world.kills).isEqualTo(List.of("j/c term", "j/b term"));
  }
}
