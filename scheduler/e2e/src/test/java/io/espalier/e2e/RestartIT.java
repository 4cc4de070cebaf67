package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is left when a scheduler is killed or stopped, and how the next one goes on. */
class RestartIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void after_kill_9_nothing_done_is_run_again_and_attempts_and_back_offs_go_on(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "sleep 0.2")
            .task("flaky.sh", "note end; echo error_backoff >\"$2\"; exit 1")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_sources": [
                    {"source": "manual", "prefs": {"h1": []}},
                    {"source": "range_label",
                     "prefs": {"parent_level": "host", "start": 1, "end": 16}}]},
                  "resources": {"host": {"slots": {"limit": 2, "default": 1}}}},
                 "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]},
                 "bistro_job->flaky": {"owner": "e2e", "command": ["./flaky.sh"],
                   "level_for_tasks": "instance", "backoff": [1, 2, 900, "repeat"]}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier run = Espalier.start(directory, "run", "site.json")) {
      await()
          .atMost(PATIENCE)
          .until(() -> site.starts("scrub").size() >= 6 && site.starts("flaky").size() == 1);
      run.signal("KILL");
      assertThat(run.ended().code()).isEqualTo(128 + 9);
    }
    await("no task survives").atMost(PATIENCE).until(() -> processes.alive().isEmpty());
    Map<String, Json.Obj> left = site.tasksLeft("scrub");
    Set<String> done = ofStatus(left, "done");
    Set<String> interrupted = ofStatus(left, "interrupted");
    assertThat(done).hasSizeGreaterThanOrEqualTo(3);
    // Two slots; a result that was not recorded yet may be lost with the scheduler, not more.
    assertThat(interrupted).hasSizeLessThanOrEqualTo(2);
    Set<String> startedBefore = Set.copyOf(site.starts("scrub").keySet());
    assertThat(startedBefore).containsAll(done);

    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await()
          .atMost(PATIENCE)
          .until(() -> number(http.get("/api/v1/jobs/scrub"), "progress", "done") == 16);
      await()
          .atMost(PATIENCE)
          .until(() -> number(http.get("/api/v1/jobs/flaky/tasks"), "tasks", "0", "attempts") == 3);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  text(http.get("/api/v1/jobs/flaky/tasks"), "tasks", "0", "status")
                      .equals("error_backoff"));
      Json flaky = Site.at(http.get("/api/v1/jobs/flaky/tasks"), "tasks", "0");
      // The third error waits the third time of the list: the position outlived the kill.
      assertThat(number(flaky, "until_ms") - number(flaky, "since_ms")).isEqualTo(900_000);

      Map<String, Integer> starts = site.starts("scrub");
      assertThat(starts).hasSize(16);
      starts.forEach(
          (node, count) -> {
            if (count > 1) {
              assertThat(interrupted).contains(node);
            }
            assertThat(count).as(node).isLessThanOrEqualTo(interrupted.contains(node) ? 2 : 1);
          });
      // The tasks are told their attempt; it goes on counting.
      assertThat(
              site.notes().stream()
                  .filter(n -> n.job().equals("flaky") && n.what().equals("start")))
          .extracting(Site.Note::attempt)
          .containsExactly(1, 2, 3);

      // Again, in the middle of a long wait: it is neither forgotten nor begun again.
      daemon.signal("KILL").ended();
      Json.Obj waiting = site.tasksLeft("flaky").values().iterator().next();
      assertThat(waiting.without("status")).isEqualTo(((Json.Obj) flaky).without("status"));
    }
    assertThat(site.starts("flaky").values()).containsExactly(3);
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void a_run_that_is_stopped_by_a_signal_ends_its_tasks_keeps_statuses_and_resumes_at_once(
      String signal, int code, @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task(
                "task.sh",
                "case $node in h1__[12]) ;; *) [ -e \"$site/second\" ] || sleep 60 ;; esac")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_sources": [
                    {"source": "manual", "prefs": {"h1": []}},
                    {"source": "range_label",
                     "prefs": {"parent_level": "host", "start": 1, "end": 5}}]},
                  "resources": {"host": {"slots": {"limit": 5, "default": 1}}},
                  "backoff": [3600, "fail"]},
                 "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier run = Espalier.start(directory, "run", "site.json")) {
      await()
          .atMost(PATIENCE)
          .until(() -> site.starts("scrub").size() == 5 && processes.alive().size() == 3);
      Ended ended = run.signal(signal).ended();
      assertThat(ended.code()).isEqualTo(code);
      assertThat(ended.stderr())
          .contains("2 of 5 tasks done, 0 failed; what ran was ended and starts again")
          .contains("stopped; run it again to go on");
      assertThat(ended.stdout()).isEmpty();
    }
    assertThat(processes.alive()).isEmpty();
    Map<String, Json.Obj> left = site.tasksLeft("scrub");
    assertThat(ofStatus(left, "done")).containsExactly("h1__1", "h1__2");
    assertThat(ofStatus(left, "interrupted")).containsExactly("h1__3", "h1__4", "h1__5");

    site.write("second", "");
    Ended second = site.run();
    // With a back-off of an hour: being stopped is no error of the task's.
    assertThat(second.code()).as(second.stderr()).isZero();
    assertThat(site.starts("scrub"))
        .containsEntry("h1__1", 1)
        .containsEntry("h1__2", 1)
        .containsEntry("h1__3", 2);
  }

  @Test
  void a_daemon_stopped_by_sigterm_ends_with_0_and_leaves_no_process_even_of_a_stubborn_task(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "trap '' TERM INT HUP; sleep 61 & sleep 60")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["shard"], "node_sources": [
                    {"source": "manual", "prefs": {"a": [], "b": []}}]},
                  "resources": {}},
                 "bistro_job->stubborn": {"owner": "e2e", "command": ["./task.sh"],
                   "kill_subprocess": {"method": "term_wait_kill", "kill_wait_ms": 200}}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      daemon.url();
      await().atMost(PATIENCE).until(() -> site.starts("stubborn").size() == 2);
      Ended ended = daemon.signal("TERM").ended();
      assertThat(ended.code()).as(ended.stderr()).isZero();
    }
    await().atMost(PATIENCE).until(() -> processes.alive().isEmpty());
    assertThat(ofStatus(site.tasksLeft("stubborn"), "interrupted")).containsExactly("a", "b");
  }

  private static Set<String> ofStatus(Map<String, Json.Obj> tasks, String status) {
    return tasks.entrySet().stream()
        .filter(e -> text(e.getValue(), "status").equals(status))
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
