package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.running.TaskResult;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What tasks did in the last hour, with the loop driven by hand. */
class ActivityTest {
  private static final int NODES = 31;

  private final LoopWorld world = new LoopWorld();

  private static String config() {
    String nodes =
        IntStream.range(0, NODES)
            .mapToObj(i -> "\"" + node(i) + "\": []")
            .collect(Collectors.joining(","));
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {%s}}]},
       "resources": {}, "backoff": ["fail"]},
     "bistro_job->j": {"owner": "o"}}
    """
        .formatted(nodes);
  }

  private static String node(int number) {
    return "n" + (10 + number);
  }

  private JobActivity activity(String job) {
    return world.answer(new Query.Activity(job));
  }

  private void endAfter(int from, int to, long millis, String status) {
    world.advance(millis);
    for (int i = from; i < to; i++) {
      world.end("j", node(i), TaskResult.Kind.EXITED, status, 0);
    }
  }

  private static int sum(Iterable<Integer> counts) {
    int sum = 0;
    for (int count : counts) {
      sum += count;
    }
    return sum;
  }

  @Test
  void startsAndEndsAreCountedByTheMinuteForAnHour() {
    world.configure(config());
    endAfter(0, 4, 61_000, "done");
    endAfter(4, 6, 1_000, "failed");
    JobActivity.Minutes minutes = activity("j").minutes();
    assertThat(minutes.starts()).hasSize(60);
    assertThat(sum(minutes.starts())).isEqualTo(NODES);
    assertThat(minutes.starts().get(59)).isZero();
    assertThat(minutes.ends().get(59)).isEqualTo(6);
    assertThat(minutes.errors().get(59)).isEqualTo(2);
    assertThat(activity("").minutes()).isEqualTo(minutes);
    world.advance(3_600_000);
    assertThat(sum(activity("j").minutes().ends())).isZero();
  }

  @Test
  void aStragglerRunsForMoreThanTwiceAsLongAsTheOthersTook() {
    world.configure(config());
    endAfter(0, 19, 10_000, "done");
    world.advance(100_000);
    assertThat(activity("j").stragglersTotal()).as("of 19 nothing is known").isZero();
    endAfter(19, 20, 0, "done");
    assertThat(activity("j").p50Millis()).isBetween(9_000L, 11_000L);
    world.advance(200_000);
    JobActivity activity = activity("j");
    assertThat(activity.stragglersTotal()).isEqualTo(NODES - 20);
    assertThat(activity.stragglers()).hasSize(NODES - 20);
    assertThat(activity.stragglers().get(0).node()).isEqualTo(node(20));
    assertThat(activity.stragglers().get(0).usualMillis()).isEqualTo(activity.p95Millis());
    assertThat(activity("").stragglers()).isEqualTo(activity.stragglers());
  }

  @Test
  void anUnknownJobIsRefused() {
    world.configure(config());
    assertThatThrownBy(() -> activity("nobody")).hasRootCauseMessage("no such job: nobody");
  }
}
