package io.espalier.worker.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small process beside us that waits for our death on a pipe, or for the end of our lease, and
 * then kills all tasks (behaviour 7.8, ruling 2). It reads the journal and looks for the cookie, so
 * it reaches descendants, which the parent-death signal of Linux does not, and it needs neither
 * native code nor an extra exec in front of every task. It sits in a session of its own, so that
 * what interrupts us does not interrupt it; when it dies before us it is replaced.
 */
final class Guard implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Guard.class);

  private final List<String> command;
  private final Object lock = new Object();
  private final Map<Long, CompletableFuture<Void>> syncs = new TreeMap<>();
  private Process process;
  private @Nullable String lease;
  private long lastSync;
  private boolean closed;

  private Guard(List<String> command, Process process) {
    this.command = command;
    this.process = process;
  }

  /**
   * @param gate exists while there is a lease
   */
  static Guard start(Path journal, String cookie, Path gate) throws IOException {
    List<String> command = new ArrayList<>();
    for (String path : List.of("/usr/bin/setsid", "/bin/setsid")) {
      if (command.isEmpty() && Files.isExecutable(Path.of(path))) {
        command.add(path);
      }
    }
    command.addAll(List.of("/bin/sh", "-c", script(), "espalier-task-guard"));
    command.addAll(List.of(journal.toString(), cookie, gate.toString()));
    Guard guard = new Guard(command, launch(command));
    guard.watch();
    return guard;
  }

  private static Process launch(List<String> command) throws IOException {
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
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
    Process watched;
    synchronized (lock) {
      watched = process;
      var unused = process.onExit().thenRun(this::replace);
    }
    Thread reader = new Thread(() -> read(watched), "task-guard");
    reader.setDaemon(true);
    reader.start();
  }

  /** Its answers. */
  private void read(Process from) {
    try (BufferedReader lines = from.inputReader(StandardCharsets.US_ASCII)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("synced ")) {
          CompletableFuture<Void> answered;
          synchronized (lock) {
            answered = syncs.remove(Long.parseLong(line.substring(7)));
          }
          if (answered != null) {
            answered.complete(null);
          }
        }
      }
    } catch (IOException | NumberFormatException e) {
      log.debug("the guard says nothing more: {}", e.getMessage());
    }
  }

  /**
   * From now on tasks may live until one of these instants comes, and no longer.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  void lease(long uptimeHundredths, long clockMillis) {
    synchronized (lock) {
      lease = "lease " + uptimeHundredths + " " + clockMillis;
      say(lease);
    }
  }

  /**
   * Completes once the guard is not killing anything and has read all that was said before; at once
   * when it was closed.
   */
  CompletableFuture<Void> sync() {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    synchronized (lock) {
      if (closed) {
        answered.complete(null);
      } else {
        syncs.put(++lastSync, answered);
        say("sync " + lastSync);
      }
    }
    return answered;
  }

  private void say(String line) {
    try {
      OutputStream in = process.getOutputStream();
      in.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      in.flush();
    } catch (IOException e) {
      // Its successor is told everything again.
      log.debug("the guard is gone: {}", e.getMessage());
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
        if (lease != null) {
          say(lease);
        }
        syncs.keySet().forEach(number -> say("sync " + number));
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
