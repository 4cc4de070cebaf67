package io.espalier.worker.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small process beside us that waits for our death on a pipe and then kills all tasks (behaviour
 * 7.8). It reads the journal and looks for the cookie, so it reaches descendants, which the
 * parent-death signal of Linux does not, and it needs neither native code nor an extra exec in
 * front of every task. It sits in a session of its own, so that what interrupts us does not
 * interrupt it; when it dies before us it is replaced.
 */
final class Guard implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Guard.class);

  private final List<String> command;
  private final Object lock = new Object();
  private Process process;
  private boolean closed;

  private Guard(List<String> command, Process process) {
    this.command = command;
    this.process = process;
  }

  static Guard start(Path journal, String cookie) throws IOException {
    List<String> command = new ArrayList<>();
    for (String path : List.of("/usr/bin/setsid", "/bin/setsid")) {
      if (command.isEmpty() && Files.isExecutable(Path.of(path))) {
        command.add(path);
      }
    }
    command.addAll(
        List.of("/bin/sh", "-c", script(), "espalier-task-guard", journal.toString(), cookie));
    Guard guard = new Guard(command, launch(command));
    guard.watch();
    return guard;
  }

  private static Process launch(List<String> command) throws IOException {
    return new ProcessBuilder(command)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static String script() {
    try (var in = Guard.class.getResourceAsStream("guard.sh")) {
      if (in == null) {
        throw new IllegalStateException("guard.sh is missing from the distribution");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    synchronized (lock) {
      return process.pid();
    }
  }

  private void watch() {
    synchronized (lock) {
      var unused = process.onExit().thenRun(this::replace);
    }
  }

  private void replace() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      log.warn("the guard of the task processes died; starting another");
      try {
        TimeUnit.MILLISECONDS.sleep(100);
        process = launch(command);
      } catch (IOException e) {
        log.error("there is no guard now, tasks would survive a kill -9: {}", e.getMessage());
        return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    watch();
  }

  /** Ends the guard; tasks that are still alive stay so. */
  @Override
  public void close() {
    Process ending;
    synchronized (lock) {
      closed = true;
      ending = process;
    }
    try (OutputStream in = ending.getOutputStream()) {
      in.write("done\n".getBytes(StandardCharsets.US_ASCII));
      in.flush();
    } catch (IOException e) {
      log.debug("the guard is gone already: {}", e.getMessage());
    }
    try {
      if (!ending.waitFor(2, TimeUnit.SECONDS)) {
        ending.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      ending.destroyForcibly();
    }
  }
}
