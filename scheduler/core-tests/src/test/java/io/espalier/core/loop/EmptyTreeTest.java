package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import org.junit.jupiter.api.Test;

/** All nodes go and come back: no status is lost, no task runs twice, none is forgotten. */
class EmptyTreeTest {
  private static final String ALL =
      "{\"a\": [], \"b\": [], \"c\": [], \"d\": [], \"e\": [], \"f\": []}";

  private final LoopWorld world = new LoopWorld();

  private static String config(String nodes) {
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": NODES}]},
       "resources": {"db": {"slots": {"limit": 1, "default": 1}}}, "backoff": [100, "fail"]},
     "bistro_job->j": {"owner": "o"}}
    """
        .replace("NODES", nodes);
  }

  private StatusLabel label(String node) {
    return world.row("j", node).status().label();
  }

  private boolean runs(String node) {
    return world.running.containsKey(new TaskKey("j", node));
  }

  @Test
  void statuses_and_running_tasks_survive_an_empty_tree() {
    world.configure(config(ALL));
    assertThat(world.launches).hasSize(6);
    world.writes("j", "a", "done");
    world.writes("j", "b", "failed");
    world.writes("j", "c", "error_backoff");
    for (int i = 0; i < 3; i++) {
      world.configure(config("{}"));
      assertThat(world.running).as("no orphan is killed without being asked for").hasSize(3 - i);
      // One ends while there is no tree.
      world.writes("j", String.valueOf("def".charAt(i)), i == 0 ? "done" : "error_backoff");
      world.advance(1_000);
      world.configure(config(ALL));
      assertThat(world.launches).as("nothing runs twice").hasSize(6);
      assertThat(runs("f")).isEqualTo(i < 2);
      world.advance(1_000);
    }
    assertThat(label("a")).isEqualTo(StatusLabel.DONE);
    assertThat(label("b")).isEqualTo(StatusLabel.FAILED);
    assertThat(label("d")).isEqualTo(StatusLabel.DONE);
    // Waits went on meanwhile: those of c, e and f end in their time, each once.
    world.advance(100_000);
    assertThat(world.running.keySet())
        .extracting(TaskKey::node)
        .containsExactlyInAnyOrder("c", "e", "f");
    assertThat(world.launches).hasSize(9);
    for (String node : new String[] {"c", "e", "f"}) {
      assertThat(world.launch("j", node).attempt()).isEqualTo(2);
      world.writes("j", node, "done");
    }
    assertThat(world.done("j")).isEqualTo(5);
  }

  @Test
  void a_wait_that_ends_while_there_is_no_tree_starts_the_task_when_it_is_back() {
    world.configure(config(ALL));
    world.writes("j", "c", "error_backoff");
    world.configure(config("{}"));
    world.advance(200_000);
    assertThat(world.launches).hasSize(6);
    world.configure(config(ALL));
    assertThat(world.launches).hasSize(7);
    assertThat(world.launch("j", "c").attempt()).isEqualTo(2);
  }
}
