package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scheduler and workers as real processes, used and broken like an operator would. */
class RemoteIT {
  private static final Duration PATIENCE = Duration.ofSeconds(45);

  @Test
  void a_job_over_100_nodes_runs_on_three_workers_and_its_results_and_logs_are_there(
      @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task(
                "task.sh", "until [ -e \"$site/go\" ]; do sleep 0.05; done; echo \"out of $node\"")
            .config(config(100));
    try (Pool pool = new Pool(site, 3)) {
      // Otherwise a worker that starts late may find no task left.
      await("every worker has its share")
          .atMost(PATIENCE)
          .until(() -> pool.running().equals(Map.of("w1", 5L, "w2", 5L, "w3", 5L)));
      site.write("go", "");
      awaitDone(pool.http(), 100);
      assertThat(site.starts("work")).hasSize(100).allSatisfy((node, n) -> assertThat(n).isOne());
      List<Json.Obj> workers = pool.workers();
      assertThat(workers)
          .extracting(worker -> text(worker, "shard") + " " + text(worker, "state"))
          .containsExactlyInAnyOrder("w1 healthy", "w2 healthy", "w3 healthy");

      Ended all =
          site.espalier("logs", "work", "--limit", "1000", "--json", "--server", pool.url());
      assertThat(all.code()).as(all.stderr()).isZero();
      List<String> nodes = new ArrayList<>();
      List<Long> times = new ArrayList<>();
      for (Json line : ((Json.Arr) Site.at(all.json(), "lines")).items()) {
        assertThat(text(line, "text")).isEqualTo("out of " + text(line, "node") + "\n");
        nodes.add(text(line, "node"));
        times.add(number(line, "time_ms") / 1000);
      }
      assertThat(nodes).hasSize(100).doesNotHaveDuplicates();
      assertThat(times).isSortedAccordingTo((a, b) -> Long.compare(b, a));

      // Every worker had its share: without one of them, lines are missing, and it is named.
      pool.worker("w2").signal("KILL").ended();
      Json.Obj rest = pool.http().get("/api/v1/logs?job=work&limit=1000");
      assertThat(((Json.Arr) Site.at(rest, "lines")).items()).hasSizeBetween(1, 99);
      assertThat(Site.at(rest, "missing").toString()).contains("w2").doesNotContain("w1");
      Ended one = site.espalier("logs", "work", "--server", pool.url());
      assertThat(one.stderr()).contains("without w2: ");
      Json bistro =
          pool.http().data("task_logs", ", \"log_type\": \"stdout\", \"jobs\": [\"work\"]");
      assertThat(Site.at(bistro, "lines", "0", "3").toString()).contains("w2");

      // Results outlive the scheduler, whoever has run them.
      pool.stopScheduler("TERM");
      pool.startScheduler();
      awaitDone(pool.http(), 100);
    }
    assertThat(site.starts("work")).hasSize(100).allSatisfy((node, n) -> assertThat(n).isOne());
    assertThat(site.tasksLeft("work").values())
        .hasSize(100)
        .allSatisfy(task -> assertThat(text(task, "status")).isEqualTo("done"));
  }

  @Tag("slow")
  @Test
  void the_tasks_of_a_worker_that_was_killed_run_elsewhere_once_its_lease_has_run_out(
      @TempDir Path directory) throws Exception {
    String work =
        """
        echo '{"progress": {"done": 1, "total": 2, "cursor": "half of '$node'"}}' >>"$2"
        case $3 in *'"cursor":"half of '$node'"'*) note resumed ;; esac
        """;
    Site site = new Site(directory).task("task.sh", work + waitFor("go")).config(config(9));
    TaskProcesses processes = new TaskProcesses(directory);
    try (Pool pool = new Pool(site, 3)) {
      await().atMost(PATIENCE).until(() -> processes.alive().size() == 9);
      var busiest =
          pool.running().entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
      String victim = busiest.getKey();
      int its = busiest.getValue().intValue();
      await("checkpoints are kept")
          .atMost(PATIENCE)
          .until(
              () ->
                  Site.byNode(pool.http().get("/api/v1/jobs/work/tasks")).values().stream()
                      .allMatch(task -> task.toString().contains("half of")));
      pool.worker(victim).signal("KILL").ended();
      await("its guard ends its tasks")
          .atMost(PATIENCE)
          .until(() -> processes.alive().size() == 9 - its);
      await("they are started elsewhere")
          .atMost(PATIENCE)
          .until(() -> processes.alive().size() == 9);
      assertThat(pool.states()).containsEntry(victim, "lost");
      assertThat(pool.running()).containsEntry(victim, 0L);
      site.write("go", "");
      awaitDone(pool.http(), 9);
      assertThat(site.starts("work").values().stream().filter(n -> n == 2)).hasSize(its);
      assertThat(site.notes().stream().filter(note -> note.what().equals("resumed"))).hasSize(its);
    }
    assertThat(site.starts("work").values()).containsOnly(1, 2);
  }

  @Test
  void a_scheduler_that_was_killed_takes_its_running_tasks_over_when_it_is_back(
      @TempDir Path directory) throws Exception {
    Site site = new Site(directory).task("task.sh", waitFor("go")).config(config(8));
    TaskProcesses processes = new TaskProcesses(directory);
    // Its tasks live without a scheduler for less than the lease.
    try (Pool pool = new Pool(site, 2, 30_000)) {
      await().atMost(PATIENCE).until(() -> processes.alive().size() == 8);
      var before = processes.alive();
      pool.stopScheduler("KILL");
      // Half of them end while nobody is there who could be told.
      site.write("go.n1", "");
      site.write("go.n2", "");
      await().atMost(PATIENCE).until(() -> processes.alive().size() == 6);
      pool.startScheduler();
      awaitDone(pool.http(), 2);
      await()
          .atMost(PATIENCE)
          .until(() -> pool.running().values().stream().mapToLong(n -> n).sum() == 6);
      assertThat(before).containsAll(processes.alive());
      site.write("go", "");
      awaitDone(pool.http(), 8);
    }
    assertThat(site.starts("work")).hasSize(8).allSatisfy((node, n) -> assertThat(n).isOne());
  }

  @Test
  void a_remote_task_is_measured_and_extended_and_its_secrets_stay_off_the_disk_of_its_worker(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "echo \"the code is SESAME-42\" && " + waitFor("go"))
            .config(
                config(1)
                    .replace(
                        "\"owner\"",
                        "\"timeout_sec\": 6, \"redact\": [\"SESAME-[0-9]+\"], \"owner\""));
    String task = "/api/v1/jobs/work/tasks/n1";
    try (Pool pool = new Pool(site, 1)) {
      await().atMost(PATIENCE).until(() -> site.starts("work").size() == 1);
      long started = System.nanoTime();
      pool.http().post(task + "/extend", "{\"seconds\": 60}");
      await("its memory is known")
          .atMost(PATIENCE)
          .until(() -> pool.http().get(task).toString().contains("memory_bytes"));
      await("its timeout has passed")
          .atMost(PATIENCE)
          .until(() -> System.nanoTime() - started > Duration.ofSeconds(7).toNanos());
      assertThat(text(pool.http().get(task), "status")).isEqualTo("running");
      site.write("go", "");
      awaitDone(pool.http(), 1);
      assertThat(pool.http().get("/api/v1/logs?job=work").toString())
          .contains("the code is [redacted]");
      pool.worker("w1").signal("TERM").ended();
    }
    try (Stream<Path> files = Files.walk(directory.resolve(".espalier"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
            .as(file.toString())
            .doesNotContain("SESAME-42");
      }
    }
    assertThat(directory.resolve(".espalier/worker-w1/job-logs.json"))
        .content()
        .contains("SESAME-[0-9]+");
  }

  @Test
  @Tag("slow")
  void all_workers_are_drained_and_replaced_one_after_the_other_and_no_task_is_lost_or_run_twice(
      @TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", "sleep 0.3").config(config(120, 6));
    try (Pool pool = new Pool(site, 3)) {
      await().atMost(PATIENCE).until(() -> !site.starts("work").isEmpty());
      for (String worker : List.of("w1", "w2", "w3")) {
        if (worker.equals("w1")) {
          Ended drain = site.espalier("drain", "w1", "--wait", "--server", pool.url());
          assertThat(drain.code()).as(drain.stderr()).isZero();
        } else {
          pool.http().post("/api/v1/workers/" + worker + "/drain");
        }
        Ended ended = pool.worker(worker).ended();
        assertThat(ended.code()).as(ended.stderr()).isZero();
        pool.startWorker(worker);
        pool.http().post("/api/v1/workers/" + worker + "/uncordon");
        await(worker).atMost(PATIENCE).until(() -> "healthy".equals(pool.states().get(worker)));
      }
      awaitDone(pool.http(), 120);
    }
    assertThat(site.starts("work")).hasSize(120).allSatisfy((node, n) -> assertThat(n).isOne());
    assertThat(new TreeSet<>(site.notes().stream().map(Site.Note::what).toList()))
        .containsExactly("end", "start");
  }

  /** Waits until a file is there, {@code NAME} or {@code NAME.NODE}. */
  private static String waitFor(String name) {
    return """
        while [ ! -e "$site/NAME" ] && [ ! -e "$site/NAME.$node" ]; do sleep 0.1; done"""
        .replace("NAME", name);
  }

  private static String config(int nodes) {
    return config(nodes, 30);
  }

  private static String config(int nodes, int atOnce) {
    return """
        {"bistro_settings": {
          "nodes": {"levels": ["shard"], "node_sources": [
            {"source": "range_label",
             "prefs": {"parent_level": "instance", "start": 1, "end": NODES, "format": "n{i}"}}]},
          "resources": {"instance": {"at_once": {"limit": AT_ONCE, "default": 1}},
                        "worker": {"slots": {"limit": 5, "default": 1}}}},
         "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"], "backoff": [1, "fail"]}}
        """
        .replace("NODES", Integer.toString(nodes))
        .replace("AT_ONCE", Integer.toString(atOnce));
  }

  private static void awaitDone(Http http, int tasks) {
    await("tasks done")
        .atMost(PATIENCE)
        .until(() -> number(http.get("/api/v1/jobs/work"), "progress", "done") == tasks);
  }
}
