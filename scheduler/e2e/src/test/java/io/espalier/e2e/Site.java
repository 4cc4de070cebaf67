package io.espalier.e2e;

import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A directory with a configuration {@code site.json}, task scripts and what the tasks noted: the
 * file {@code work}, one line for each beginning and end of a task. What was started here and is
 * still alive at {@link #close} is killed.
 */
final class Site implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final Path directory;
  private final List<Espalier> started = new ArrayList<>();

  Site(Path directory) {
    this.directory = directory;
  }

  Path directory() {
    return directory;
  }

  Path file(String name) {
    return directory.resolve(name);
  }

  /** Writes the configuration; at once, so that nobody reads half of it. */
  Site config(String text) {
    write("site.json", text);
    return this;
  }

  void write(String name, String text) {
    try {
      Path aside = Files.createTempFile(directory, "aside-", ".tmp");
      Files.writeString(aside, text);
      Files.move(aside, file(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An executable shell script; {@code $site} in it is this directory. */
  Site script(String name, String body) {
    try {
      Path script = file(name);
      Files.writeString(script, "#!/bin/sh\nsite='" + directory + "'\n" + body);
      Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A task that notes its beginning and its end, and is done. */
  Site task(String name, String work) {
    return script(
        name,
        """
        note() { echo "$1 $ESPALIER_TASK_JOB $node $ESPALIER_TASK_ATTEMPT $(date +%s%N)" >>"$site/work"; }
        node=$1
        note start
        WORK
        note end
        echo done >"$2"
        """
            .replace("WORK", work));
  }

  /** What the tasks noted so far. */
  List<Note> notes() {
    try {
      List<Note> notes = new ArrayList<>();
      if (Files.exists(file("work"))) {
        String text = Files.readString(file("work"));
        // The last line may be half written.
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n", -1)) {
          String[] words = line.split(" ", -1);
          if (words.length == 5) {
            notes.add(
                new Note(
                    words[0],
                    words[1],
                    words[2],
                    Integer.parseInt(words[3]),
                    Long.parseLong(words[4])));
          }
        }
      }
      return notes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How often each node's task was started for a job. */
  Map<String, Integer> starts(String job) {
    Map<String, Integer> starts = new TreeMap<>();
    for (Note note : notes()) {
      if (note.what().equals("start") && note.job().equals(job)) {
        starts.merge(note.node(), 1, Integer::sum);
      }
    }
    return starts;
  }

  /** A line of {@code work}. */
  record Note(String what, String job, String node, int attempt, long nanos) {}

  Ended espalier(String... arguments) {
    return Espalier.run(directory, arguments);
  }

  /** Runs the configuration to its end, with {@code --json}. */
  Ended run(String... more) {
    return espalier(with(more, "run", "site.json", "--json"));
  }

  /** Starts {@code espalier ARGUMENTS}. */
  Espalier start(String... arguments) {
    Espalier espalier = Espalier.start(directory, arguments);
    started.add(espalier);
    return espalier;
  }

  /** Starts a scheduler with local tasks, on a port of its own. */
  Espalier daemon(String... more) {
    return start(
        with(
            more,
            "scheduler",
            "--config",
            "site.json",
            "--runner",
            "local",
            "--http",
            "127.0.0.1:0"));
  }

  /** Starts a scheduler with workers, on a port and with a data directory of its own. */
  Espalier scheduler(String name, String... more) {
    return start(
        with(
            more,
            "scheduler",
            "--config",
            "site.json",
            "--runner",
            "remote",
            "--http",
            "127.0.0.1:0",
            "--data-dir",
            name,
            "--instance-node-name",
            "here"));
  }

  /** Starts a worker with a data directory of its own. */
  Espalier worker(String name, String... more) {
    return start(with(more, "worker", "--shard-id", name, "--data-dir", name));
  }

  /** Returns arguments followed by more. */
  static String[] with(String[] more, String... first) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toArray(String[]::new);
  }

  /** Waits until tasks of a job start. */
  void awaitNewStarts(String job) {
    int before = starts(job).size();
    await().atMost(PATIENCE).until(() -> starts(job).size() > before + 4);
  }

  /** What {@code tasks JOB --json} says about a running scheduler, by node. */
  Map<String, Json.Obj> tasks(Espalier of, String job) {
    return tasks("--server", of.url(), job);
  }

  /** Whether a scheduler has a node and says that the job's task there is done. */
  boolean isDone(Espalier at, String job, String node) {
    Json.Obj task = tasks(at, job).get(node);
    return task != null && text(task, "status").equals("done");
  }

  /** What {@code tasks JOB --json} says about the data that a run left, by node. */
  Map<String, Json.Obj> tasksLeft(String job) {
    return tasks("--data-dir", ".espalier/site", job);
  }

  private Map<String, Json.Obj> tasks(String where, String which, String job) {
    Ended tasks = espalier("tasks", job, "--json", where, which);
    if (tasks.code() != 0) {
      throw new AssertionError(tasks);
    }
    return byNode(tasks.json());
  }

  static Map<String, Json.Obj> byNode(Json.Obj tasks) {
    Map<String, Json.Obj> byNode = new TreeMap<>();
    for (Json task : ((Json.Arr) at(tasks, "tasks")).items()) {
      byNode.put(text(task, "node"), (Json.Obj) task);
    }
    return byNode;
  }

  /** The value at a path of keys; fails where there is none. */
  static Json at(Json json, String... path) {
    @Nullable Json value = json;
    for (String key : path) {
      value =
          value instanceof Json.Obj object
              ? object.get(key)
              : value instanceof Json.Arr array ? array.items().get(Integer.parseInt(key)) : null;
      if (value == null) {
        throw new AssertionError("no " + key + " of " + String.join(".", path) + " in " + json);
      }
    }
    return value;
  }

  static String text(Json json, String... path) {
    return ((Json.Str) at(json, path)).value();
  }

  static long number(Json json, String... path) {
    return ((Json.Num) at(json, path)).value().longValueExact();
  }

  /** Kills all processes, and waits until their guards have ended their tasks. */
  @Override
  public void close() {
    started.forEach(Espalier::close);
    try {
      TaskProcesses tasks = new TaskProcesses(directory);
      await().atMost(Duration.ofMinutes(1)).until(() -> tasks.alive().isEmpty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
