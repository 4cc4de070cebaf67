package io.espalier.e2e;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The processes of tasks as the kernel knows them, not as the scheduler tells: those whose working
 * directory lies below the data directory and whose environment says which task they are.
 */
final class TaskProcesses {
  private final Path root;

  /**
   * @param root what the data directory lies below
   */
  TaskProcesses(Path root) throws IOException {
    this.root = root.toRealPath();
  }

  /** Of one process. */
  record Task(String job, String node, String invocation) {}

  /** Tasks with a process at this very moment: all of them were alive at one instant. */
  Set<Task> alive() {
    Map<Path, Task> seen = new HashMap<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      processes
          .filter(p -> Character.isDigit(p.getFileName().toString().charAt(0)))
          .forEach(
              p -> {
                Task task = task(p);
                if (task != null) {
                  seen.put(p, task);
                }
              });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    // Looking takes time: only those that are still there were there together.
    Set<Task> together = new HashSet<>();
    seen.forEach(
        (process, task) -> {
          if (task.equals(task(process))) {
            together.add(task);
          }
        });
    return together;
  }

  private @Nullable Task task(Path process) {
    try {
      if (!Files.readSymbolicLink(process.resolve("cwd")).startsWith(root)) {
        return null;
      }
      Map<String, String> variables = new HashMap<>();
      String environment =
          new String(Files.readAllBytes(process.resolve("environ")), StandardCharsets.UTF_8);
      for (String variable : environment.split("\0", -1)) {
        int equals = variable.indexOf('=');
        if (equals > 0) {
          variables.put(variable.substring(0, equals), variable.substring(equals + 1));
        }
      }
      String invocation = variables.get("ESPALIER_TASK_INVOCATION");
      return invocation == null
          ? null
          : new Task(
              variables.getOrDefault("ESPALIER_TASK_JOB", ""),
              variables.getOrDefault("ESPALIER_TASK_NODE", ""),
              invocation);
    } catch (IOException e) {
      // It has ended meanwhile.
      return null;
    }
  }

  /**
   * Looks again and again, on a thread of its own, while something goes on.
   *
   * @param <T> what that something results in
   */
  <T> Watched<T> during(Supplier<T> work) {
    AtomicBoolean over = new AtomicBoolean();
    Set<Set<Task>> seen = ConcurrentHashMap.newKeySet();
    Thread watch =
        new Thread(
            () -> {
              while (!over.get()) {
                seen.add(alive());
                LockSupport.parkNanos(2_000_000); // leaves the processors to what is watched
              }
            },
            "watch");
    watch.start();
    try {
      T result = work.get();
      return new Watched<>(result, seen);
    } finally {
      over.set(true);
    }
  }

  /**
   * @param seen every set of tasks that were alive together
   */
  record Watched<T>(T result, Set<Set<Task>> seen) {}
}
