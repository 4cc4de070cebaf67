package io.espalier.e2e.drill;

import io.espalier.e2e.Distribution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A scheduler or worker process that can be killed, frozen and started again. */
final class Part implements AutoCloseable {
  private static final long GUARD_REPLACED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final String name;
  private final List<String> command;
  private final Path directory;
  private @Nullable Process process;
  private boolean frozen;
  private long frozenGuard;
  private long guardKilledAt = System.nanoTime() - GUARD_REPLACED_NANOS;

  /**
   * @param command whole, each piece a part of it
   * @param directory where it runs and leaves its output
   */
  @SafeVarargs
  Part(String name, Path directory, List<String>... command) {
    this.name = name;
    this.directory = directory;
    List<String> whole = new ArrayList<>();
    for (List<String> piece : command) {
      whole.addAll(piece);
    }
    this.command = List.copyOf(whole);
  }

  String name() {
    return name;
  }

  boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }

  boolean isFrozen() {
    return frozen && isAlive();
  }

  void start() {
    if (isAlive()) {
      return;
    }
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(
                ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".out").toFile()))
            .redirectError(
                ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".err").toFile()));
    builder.environment().keySet().removeIf(variable -> variable.startsWith("ESPALIER_"));
    builder.environment().put("DRILL_WORKER", name);
    builder.environment().put("JAVA_HOME", Distribution.javaHome());
    try {
      process = builder.start();
      frozen = false;
      frozenGuard = 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code kill -9}. */
  void kill() {
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroyForcibly();
    try {
      running.waitFor(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** {@code kill}: it ends by itself, later. */
  Process stop() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException(name + " was never started");
    }
    signal("TERM");
    return running;
  }

  /** SIGSTOP: only this process, not what belongs to it. */
  void freeze() {
    signal("STOP");
    frozen = true;
  }

  void thaw() {
    if (frozen) {
      signal("CONT");
      frozen = false;
    }
  }

  private void signal(String signal) {
    Process running = process;
    if (running != null && running.isAlive()) {
      signal(signal, running.pid());
    }
  }

  private static void signal(String signal, long pid) {
    String unused = Shell.tryToRun("kill", "-" + signal, Long.toString(pid));
  }

  // ---- the guard of a worker's tasks

  /**
   * Whether the guard is known to be there: one of the two may fail, not both at once. Who kills
   * the guard and the worker together is beyond what is promised.
   */
  boolean isGuarded() {
    return frozenGuard == 0 && System.nanoTime() - guardKilledAt > GUARD_REPLACED_NANOS;
  }

  boolean killGuard() {
    long guard = guard();
    if (guard != 0) {
      guardKilledAt = System.nanoTime();
      signal("KILL", guard);
    }
    return guard != 0;
  }

  boolean freezeGuard() {
    frozenGuard = guard();
    if (frozenGuard != 0) {
      signal("STOP", frozenGuard);
    }
    return frozenGuard != 0;
  }

  void thawGuard() {
    if (frozenGuard != 0) {
      signal("CONT", frozenGuard);
      // It may have been replaced just now.
      guardKilledAt = System.nanoTime();
      frozenGuard = 0;
    }
  }

  private long guard() {
    Process running = process;
    return running == null
        ? 0
        : running
            .children()
            .filter(child -> commandLine(child.pid()).contains("espalier-task-guard"))
            .mapToLong(ProcessHandle::pid)
            .findFirst()
            .orElse(0);
  }

  private static String commandLine(long pid) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /** The end of what it said. */
  String lastWords() {
    try {
      List<String> lines = Files.readAllLines(directory.resolve(name + ".err"));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    thaw();
    thawGuard();
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroy();
    try {
      if (!running.waitFor(15, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
