package io.espalier.worker.process.kill;

import com.sun.jna.Native;
import io.espalier.core.running.ResourceUsage;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a small process, {@link GuardProcess}, that waits on a pipe for our death, or for the expiry
 * of our lease, and then kills all tasks (docs/design/design.md#clocks-of-a-lease). It has a
 * session of its own, so that a signal that interrupts us does not interrupt it.
 *
 * <p>A guard that has died, or does not answer for {@link #SILENCE_MILLIS}, is killed and replaced,
 * with increasing pauses, until a new one runs. Until the new guard answers, the gate is closed and
 * {@link #problem} returns the reason.
 */
public final class LeaseGuard implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LeaseGuard.class);

  /** The silence after which a guard is considered useless; shorter than the shortest lease. */
  private static final long SILENCE_MILLIS = 6_000;

  /** The start timeout. A virtual machine takes long to start on a busy host. */
  private static final long START_MILLIS = 30_000;

  private static final long PING_MILLIS = 1_000;
  private static final long FIRST_BACK_OFF_MILLIS = 100;
  private static final long LAST_BACK_OFF_MILLIS = 5_000;

  /** The duration from which a kill is logged; most take a moment. */
  private static final long LONG_KILLING_MILLIS = 5_000;

  private static final String NAME = "espalier-task-guard";

  /** Where JNA's own library is, if it need not be unpacked. */
  private static final String LIBRARIES = "jna.boot.library.path";

  private final List<String> command;
  private final Path gate;
  private final Object lock = new Object();
  private final Map<Long, CompletableFuture<Void>> syncs = new TreeMap<>();
  private Process process;
  private @Nullable String lease;
  private String problem = "";
  private String killing = "";
  private long killingSince;
  private long lastNumber;
  private long silentMillis;
  private boolean pinged;
  private boolean answered;
  private boolean closed;

  private LeaseGuard(List<String> command, Path gate, Process process) {
    this.command = command;
    this.gate = gate;
    this.process = process;
  }

  /**
   * @param gate file that exists while there is a lease
   */
  public static LeaseGuard start(Path journal, String cookie, Path gate) throws IOException {
    List<String> command = command(journal, cookie, gate);
    LeaseGuard guard = new LeaseGuard(command, gate, launch(command));
    guard.listen();
    Thread thread = new Thread(guard::watch, "task-guard");
    thread.setDaemon(true);
    thread.start();
    return guard;
  }

  private static List<String> command(Path journal, String cookie, Path gate) throws IOException {
    // A single shell sets the signals, because a signal that is ignored before an exec stays
    // ignored.
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", "trap '' HUP INT TERM; exec \"$@\"", NAME));
    for (String path : List.of("/usr/bin/setsid", "/bin/setsid")) {
      if (command.size() == 4 && Files.isExecutable(Path.of(path))) {
        command.add(path);
      }
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    String libraries = System.getProperty(LIBRARIES);
    if (libraries != null) {
      command.add("-D" + LIBRARIES + "=" + libraries);
    }
    command.addAll(
        List.of(
            "-Xms4m",
            "-Xmx64m",
            "-XX:+ExitOnOutOfMemoryError",
            "-Xss256k",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:CICompilerCount=1",
            "-Xshare:auto",
            "-XX:-UsePerfData",
            "-Despalier.process=" + NAME,
            "-cp",
            String.join(File.pathSeparator, classPath()),
            GuardProcess.class.getName(),
            journal.toAbsolutePath().toString(),
            cookie,
            gate.toAbsolutePath().toString()));
    return command;
  }

  /** Returns only the archives that the guard needs, because each costs it memory. */
  private static Set<String> classPath() throws IOException {
    Set<String> places = new LinkedHashSet<>();
    for (Class<?> needed : List.of(GuardProcess.class, ResourceUsage.class, Native.class)) {
      try {
        places.add(
            Path.of(needed.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toAbsolutePath()
                .toString());
      } catch (URISyntaxException e) {
        throw new IOException("cannot find the program of the guard: " + e.getMessage(), e);
      }
    }
    return places;
  }

  private static Process launch(List<String> command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(new File("/"))
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    return builder.start();
  }

  long pid() {
    synchronized (lock) {
      return process.pid();
    }
  }

  /** Returns why tasks are not guarded now; empty: they are. */
  public String problem() {
    synchronized (lock) {
      if (!problem.isEmpty() || killing.isEmpty()) {
        return problem;
      }
      return millisSince(killingSince) < LONG_KILLING_MILLIS
          ? ""
          : "the guard cannot verify that tasks are dead: " + killing;
    }
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  // ---- the thread that watches the guard

  private void watch() {
    long backOff = FIRST_BACK_OFF_MILLIS;
    try {
      while (true) {
        String why = awaitItsEnd();
        if (why.isEmpty()) {
          return;
        }
        log.warn("{}; starting another guard of the task processes", why);
        Process old;
        synchronized (lock) {
          problem = "no guard: " + why;
          old = process;
          if (answered) {
            backOff = FIRST_BACK_OFF_MILLIS;
          }
        }
        old.destroyForcibly();
        boolean gone = old.waitFor(LAST_BACK_OFF_MILLIS, TimeUnit.MILLISECONDS);
        if (!gone) {
          log.error("the old guard does not die; it hangs in the kernel");
        }
        closeGate();
        backOff = replace(why, backOff);
        if (backOff < 0) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until the guard fails and returns the problem; empty: it was closed. */
  private String awaitItsEnd() throws InterruptedException {
    synchronized (lock) {
      silentMillis = 0;
      pinged = false;
      while (!closed) {
        if (!process.isAlive()) {
          return "the guard died";
        }
        if (silentMillis >= (answered ? SILENCE_MILLIS : START_MILLIS)) {
          return "the guard does not answer";
        }
        if (!pinged) {
          pinged = true;
          say("ping " + ++lastNumber);
        }
        long before = System.nanoTime();
        lock.wait(PING_MILLIS);
        if (pinged) {
          // A pause of this process, of whatever length, does not count as silence of the guard.
          silentMillis += Math.min(PING_MILLIS, millisSince(before));
        } else {
          long rest = PING_MILLIS - millisSince(before);
          if (rest > 0 && !closed && process.isAlive()) {
            lock.wait(rest);
          }
        }
      }
      return "";
    }
  }

  private void closeGate() {
    try {
      Files.deleteIfExists(gate);
    } catch (IOException e) {
      log.error("cannot close the gate of task starts: {}", e.getMessage());
    }
  }

  /** Tries until it can start another guard; returns the next pause, or -1 when it was closed. */
  private long replace(String why, long firstPause) throws InterruptedException {
    long pause = firstPause;
    while (true) {
      TimeUnit.MILLISECONDS.sleep(pause);
      pause = Math.min(2 * pause, LAST_BACK_OFF_MILLIS);
      try {
        synchronized (lock) {
          if (closed) {
            return -1;
          }
          process = launch(command);
          answered = false;
          if (lease != null) {
            say(lease);
          }
          syncs.keySet().forEach(number -> say("sync " + number));
        }
        listen();
        return pause;
      } catch (IOException | OutOfMemoryError e) {
        // The virtual machine reports out of memory when it gets no thread.
        String cause = String.valueOf(e.getMessage()).strip();
        log.error("{}, and another cannot be started: {}", why, cause);
        synchronized (lock) {
          process.destroyForcibly();
          problem = "no guard: " + why + ", and another cannot be started: " + cause;
        }
      }
    }
  }

  // ---- messages of the guard

  private void listen() {
    Process heard;
    synchronized (lock) {
      heard = process;
    }
    Thread reader = new Thread(() -> read(heard), "task-guard-answers");
    reader.setDaemon(true);
    reader.start();
  }

  private void read(Process from) {
    try (BufferedReader lines = from.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        hear(from, line);
      }
    } catch (IOException | NumberFormatException e) {
      log.debug("the guard says nothing more: {}", e.getMessage());
    }
    synchronized (lock) {
      lock.notifyAll();
    }
  }

  private void hear(Process from, String line) {
    String[] words = line.split(" ", 3);
    if (words[0].equals("synced")) {
      CompletableFuture<Void> answered;
      synchronized (lock) {
        answered = syncs.remove(Long.parseLong(words[1]));
      }
      if (answered != null) {
        answered.complete(null);
      }
    } else if (words[0].equals("pong") && words.length == 3) {
      synchronized (lock) {
        // The last messages of a guard that has died meanwhile do not describe the present.
        if (from == process && from.isAlive()) {
          pinged = false;
          answered = true;
          silentMillis = 0;
          problem = "";
          if (killing.isEmpty()) {
            killingSince = System.nanoTime();
          }
          killing = words[2].strip();
          lock.notifyAll();
        }
      }
    }
  }

  /**
   * Sets the lease: tasks may live until the earlier of these instants, and no longer.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  public void lease(long uptimeHundredths, long clockMillis) {
    synchronized (lock) {
      lease = "lease " + uptimeHundredths + " " + clockMillis;
      say(lease);
    }
  }

  /**
   * Returns a future that completes once the guard is not killing anything and has read all earlier
   * messages; at once when the guard was closed.
   */
  public CompletableFuture<Void> sync() {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    synchronized (lock) {
      if (closed) {
        answered.complete(null);
      } else {
        syncs.put(++lastNumber, answered);
        say("sync " + lastNumber);
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
      // Its successor receives all messages again.
      log.debug("the guard is gone: {}", e.getMessage());
    }
  }

  /** Ends the guard; tasks that are still alive stay alive. */
  @Override
  public void close() {
    Process ending;
    synchronized (lock) {
      closed = true;
      ending = process;
      lock.notifyAll();
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
