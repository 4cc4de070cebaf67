package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of batches (docs/batches.md) with the built distribution, killed in the middle. */
class BatchIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SHARDS = 60;

  private static final String CONFIG =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["host", "shard"], "node_sources": [
          {"source": "manual", "prefs": {"h1": [], "h2": []}},
          {"source": "range_label", "prefs": {"parent_level": "host", "start": 1, "end": 30}}]},
        "resources": {"host": {"slots": {"limit": 20, "default": 1}}}},
       "bistro_job->compact": {"owner": "e2e", "command": ["./compact.py"],
         "batch": {"max": 20, "under": "host"}}}
      """;

  /** Notes one line when it touches a shard, and one when it lets go of it. */
  private static final String PROGRAM =
      """
      #!/usr/bin/env python3
      import os, time
      import espalier_task

      notes = open("SITE/work", "a", buffering=1)
      for task in espalier_task.Batch():
          with task:
              print("begin", os.getpid(), task.node, task.token, file=notes)
              time.sleep(0.05)
              print("end", os.getpid(), task.node, task.token, file=notes)
      """;

  /** A line of the program. */
  private record Note(String what, long pid, String node, String token) {}

  private static List<Note> notes(Path directory) throws Exception {
    Path work = directory.resolve("work");
    if (!Files.exists(work)) {
      return List.of();
    }
    // A process that is killed may leave half of a line.
    return Files.readString(work)
        .lines()
        .map(line -> line.split(" ", -1))
        .filter(words -> words.length == 4 && words[3].contains("."))
        .map(words -> new Note(words[0], Long.parseLong(words[1]), words[2], words[3]))
        .toList();
  }

  private static Set<String> nodes(List<Note> notes, String what) {
    Set<String> nodes = new HashSet<>();
    notes.stream().filter(note -> note.what().equals(what)).forEach(note -> nodes.add(note.node()));
    return nodes;
  }

  @Test
  void afterKill9EveryShardIsDoneAndNoneIsTouchedByTwoProcessesAtOnce(@TempDir Path directory)
      throws Exception {
    Site site = new Site(directory).config(CONFIG);
    Files.copy(
        Path.of("../../config-examples/python/espalier_task.py"), site.file("espalier_task.py"));
    Path program = site.file("compact.py");
    Files.writeString(program, PROGRAM.replace("SITE", site.file("").toAbsolutePath().toString()));
    assertThat(program.toFile().setExecutable(true)).isTrue();
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier run = Espalier.start(directory, "run", "site.json")) {
      await().atMost(PATIENCE).until(() -> nodes(notes(directory), "end").size() >= 15);
      run.signal("KILL");
      assertThat(run.ended().code()).isEqualTo(128 + 9);
    }
    await("no process survives").atMost(PATIENCE).until(() -> processes.alive().isEmpty());
    Set<String> done = new HashSet<>();
    site.tasksLeft("compact")
        .forEach(
            (node, task) -> {
              if (Site.text(task, "status").equals("done")) {
                done.add(node);
              }
            });
    int before = notes(directory).size();
    assertThat(done).isNotEmpty().hasSizeLessThan(SHARDS);
    assertThat(nodes(notes(directory), "end")).containsAll(done);
    Files.copy(site.file("work"), site.file("work.before"), StandardCopyOption.REPLACE_EXISTING);

    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await()
          .atMost(PATIENCE)
          .until(() -> number(http.get("/api/v1/jobs/compact"), "progress", "done") == SHARDS);
      Json.Obj history = http.get("/api/v1/jobs/compact/tasks/h1__30");
      assertThat(Site.text(history, "status")).isEqualTo("done");
    }
    List<Note> notes = notes(directory);
    assertThat(nodes(notes, "end")).hasSize(SHARDS);
    // Done is done.
    assertThat(nodes(notes.subList(before, notes.size()), "begin"))
        .doesNotContainAnyElementsOf(done);
    // Each start is one of its own, by one process, and touches its shard once.
    Map<String, Long> owners = new HashMap<>();
    for (Note note : notes) {
      if (note.what().equals("begin")) {
        assertThat(owners.put(note.token(), note.pid())).as(note.toString()).isNull();
      } else {
        assertThat(owners.get(note.token())).as(note.toString()).isEqualTo(note.pid());
      }
    }
    // One process had many tasks, and never more than a batch.
    Map<Long, Integer> sizes = new HashMap<>();
    owners.values().forEach(pid -> sizes.merge(pid, 1, Integer::sum));
    assertThat(sizes.values()).allMatch(size -> size <= 20).anyMatch(size -> size > 1);
  }
}
