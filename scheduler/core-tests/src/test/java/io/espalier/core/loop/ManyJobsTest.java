package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.WaitQuantiles;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What monitors see of thousands of jobs is kept up to date, not counted again each time. */
class ManyJobsTest {
  private static final int JOBS = 1_500;

  private final LoopWorld world = new LoopWorld();

  private static String config(String nodes, int jobs, String more) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < jobs; i++) {
      text.append(",\n\"bistro_job->j").append(i).append("\": {\"owner\": \"o\"").append(more);
      text.append("}");
    }
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": NODES}]},
       "resources": {"db": {"slots": {"limit": 40, "default": 1}}}, "backoff": [5, "fail"]}JOBS}
    """
        .replace("NODES", nodes)
        .replace("JOBS", text);
  }

  private void theViewIsRight() {
    world.advance(200);
    Map<String, JobProgress> shown = Objects.requireNonNull(world.view).progress();
    for (int job = 0; job < world.core.jobCount(); job++) {
      if (world.core.job(job) != null) {
        JobProgress now = world.core.tasks().progress(job);
        JobProgress seen = Objects.requireNonNull(shown.get(now.job()));
        assertThat(seen.withPace(0, -1, WaitQuantiles.NONE, Map.of())).isEqualTo(now);
      }
    }
    assertThat(world.loop.progress().keySet()).containsExactlyElementsOf(shown.keySet());
    assertThat(List.copyOf(shown.keySet())).isSorted();
  }

  @Test
  void viewsFollowEveryChange() {
    world.configure(config("{\"a\": [], \"b\": []}", JOBS, ""));
    theViewIsRight();
    for (int i = 0; i < 6; i++) {
      List<TaskKey> running = new ArrayList<>(world.running.keySet());
      for (int k = 0; k < 25; k++) {
        TaskKey key = running.get(k);
        world.writes(key.job(), key.node(), k % 3 == 0 ? "error_backoff" : "done");
      }
      theViewIsRight();
    }
    world.configure(config("{\"b\": [], \"c\": []}", JOBS, ""));
    theViewIsRight();
    world.configure(config("{\"b\": [], \"c\": []}", JOBS - 400, ""));
    theViewIsRight();
    world.configure(config("{\"b\": [], \"c\": []}", JOBS, ", \"enabled\": false"));
    theViewIsRight();
    world.advance(5_000);
    theViewIsRight();
  }
}
