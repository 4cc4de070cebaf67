package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskKey;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which jobs count as absent, and when their statuses are forgotten. */
class AbsentJobsTest {
  private static final String SETTINGS =
      """
      "bistro_settings": {"enabled": true, "nodes": {"levels": ["host"], "node_sources": [
        {"source": "manual", "prefs": {"h1": [], "h2": []}}]}, "resources": {}}
      """;
  private static final String BOTH =
      "{"
          + SETTINGS
          + ", \"bistro_job->j\": {\"owner\": \"o\"}, \"bistro_job->k\": {\"owner\": \"o\"}}";
  private static final String ONE = "{" + SETTINGS + ", \"bistro_job->j\": {\"owner\": \"o\"}}";

  private final LoopWorld world = new LoopWorld();

  private Set<String> absent(String... jobs) {
    CompletableFuture<Set<String>> answer = new CompletableFuture<>();
    world.post(new LoopInput.FindAbsent(Set.of(jobs), answer));
    world.settle();
    return answer.join();
  }

  private boolean forget(String job) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    world.post(new LoopInput.ForgetAbsent(job, "old", "file", answer));
    world.settle();
    return answer.join();
  }

  private void allDone() {
    while (!world.running.isEmpty()) {
      var launch = world.running.values().iterator().next();
      world.writes(launch.job(), launch.node(), "done");
      world.settle();
    }
  }

  @Test
  void beforeTheFirstConfigurationNoJobIsAbsent() {
    assertThat(absent("j", "gone")).isEmpty();
    world.configure(BOTH);
    assertThat(absent("j", "gone")).containsExactly("gone");
  }

  @Test
  void aRemovedJobIsForgottenAndRunsAgainWhenItReturns() {
    world.configure(BOTH);
    allDone();
    world.configure(ONE);
    assertThat(forget("k")).as("nobody has looked").isFalse();
    assertThat(absent("j", "k")).containsExactly("k");
    assertThat(forget("j")).isFalse();
    assertThat(forget("k")).isTrue();
    assertThat(world.stored.keySet()).extracting(TaskKey::job).containsOnly("j");
    assertThat(world.events)
        .filteredOn(event -> event.kind().equals(EventKind.JOB_FORGOTTEN.word()))
        .singleElement()
        .satisfies(event -> assertThat(event.data().get("archive")).isEqualTo(Json.of("file")));
    world.configure(BOTH);
    world.settle();
    assertThat(world.running.keySet()).extracting(TaskKey::job).containsOnly("k").hasSize(2);
  }

  @Test
  void aJobThatReturnedInTheMeantimeKeepsItsStatuses() {
    world.configure(BOTH);
    allDone();
    world.configure(ONE);
    assertThat(absent("k")).containsExactly("k");
    world.configure(BOTH);
    world.configure(ONE);
    assertThat(forget("k")).isFalse();
    assertThat(world.stored.keySet()).extracting(TaskKey::job).contains("k");
  }

  @Test
  void aJobWithLiveTasksIsNotAbsent() {
    world.configure(BOTH);
    world.settle();
    assertThat(world.running).isNotEmpty();
    world.configure(ONE);
    assertThat(absent("k")).isEmpty();
  }
}
