package io.espalier.server.app;

import io.espalier.core.api.RefusedException;
import io.espalier.webui.whatif.WhatIfRunner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs what-ifs with the distribution that this process was started from. The child cannot harm the
 * scheduler (docs/adr/0076-forecasts.md): it has the lowest priority, a bounded heap, bounded
 * processor and wall-clock time, is what the kernel kills first when memory runs out, and gets
 * everything by its standard input: no token, address or environment of the scheduler. Thread-safe.
 */
final class WhatIfProcesses implements WhatIfRunner, AutoCloseable {
  /** Where the launcher tells us that it lies. */
  private static final String HOME = "espalier.home";

  private static final Logger LOG = LoggerFactory.getLogger(WhatIfProcesses.class);
  private static final Duration WITHIN = Duration.ofSeconds(45);
  private static final int HEAP_MEGABYTES = 512;
  private static final int MOST_OUTPUT = 16 << 20;
  private static final int MOST_ERRORS = 64 << 10;

  /** Java ends with it when there is no memory left, if told to. */
  private static final int OUT_OF_MEMORY = 3;

  /** What the child gets of our environment: how to find programs and to read names. */
  private static final List<String> VARIABLES = List.of("PATH", "LANG", "LC_ALL", "LC_CTYPE");

  private final Path launcher;
  private final Duration within;
  private final ThreadFactory threads;
  private final Set<Child> children = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param launcher {@code espalier} of a distribution
   * @param within the time that a run may take
   */
  WhatIfProcesses(Path launcher, Duration within) {
    this(
        launcher,
        within,
        work -> {
          Thread thread = new Thread(work, "what-if");
          thread.setDaemon(true);
          return thread;
        });
  }

  WhatIfProcesses(Path launcher, Duration within, ThreadFactory threads) {
    this.launcher = launcher;
    this.within = within;
    this.threads = threads;
  }

  /** Opens the runner of this process; without a distribution around it there is none. */
  static WhatIfRunner open(OpenParts opened) {
    String home = System.getProperty(HOME);
    Path launcher = home == null ? null : Path.of(home, "espalier");
    return launcher == null || !Files.isExecutable(launcher)
        ? WhatIfRunner.NONE
        : opened.add("what-ifs", new WhatIfProcesses(launcher, WITHIN));
  }

  @Override
  public Run start(byte[] snapshot, List<String> options) {
    Child child = new Child(snapshot, options);
    children.add(child);
    if (closed) {
      child.kill();
      children.remove(child);
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE, "the scheduler is being stopped");
    }
    try {
      threads.newThread(child::run).start();
    } catch (OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      children.remove(child);
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE, "the simulation got no thread: " + e.getMessage());
    }
    return child;
  }

  /** Returns how many run. */
  int running() {
    return children.size();
  }

  /** Ends what runs. */
  @Override
  public void close() {
    closed = true;
    children.forEach(Child::kill);
  }

  private final class Child implements Run {
    private final byte[] snapshot;
    private final List<String> options;
    private final CompletableFuture<Ended> ended = new CompletableFuture<>();
    private @Nullable Process process;
    private boolean killed;
    private String exceeded = "";

    Child(byte[] snapshot, List<String> options) {
      this.snapshot = snapshot;
      this.options = options;
    }

    @Override
    public CompletionStage<Ended> ended() {
      return ended;
    }

    @Override
    public synchronized void kill() {
      killed = true;
      if (process != null) {
        destroy(process);
      }
    }

    private synchronized void exceeds(String bound) {
      if (!killed) {
        exceeded = bound;
        kill();
      }
    }

    private synchronized void started(Process child) {
      process = child;
      if (killed) {
        destroy(child);
      }
    }

    /** Kills by the handle: the process itself would close the streams that are being read. */
    private static void destroy(Process child) {
      boolean unused = child.toHandle().destroyForcibly();
    }

    private void run() {
      try {
        ended.complete(outcome());
      } catch (IOException | RuntimeException | Error e) {
        LOG.warn("a what-if could not be run", e);
        kill();
        ended.completeExceptionally(e);
      } catch (InterruptedException e) {
        kill();
        ended.completeExceptionally(e);
        Thread.currentThread().interrupt();
      } finally {
        children.remove(this);
      }
    }

    private Ended outcome() throws IOException, InterruptedException {
      Process child = command().start();
      started(child);
      yieldMemory(child.pid());
      var unused =
          child
              .onExit()
              .orTimeout(within.toMillis(), TimeUnit.MILLISECONDS)
              .exceptionally(
                  late -> {
                    exceeds(within.toSeconds() + " s");
                    return child;
                  });
      CompletableFuture<String> errors =
          CompletableFuture.supplyAsync(
              () -> text(child.getErrorStream()), work -> threads.newThread(work).start());
      try (OutputStream in = child.getOutputStream()) {
        in.write(snapshot);
      } catch (IOException e) {
        LOG.debug("a what-if did not read its snapshot", e); // what it has to say follows
      }
      byte[] output = child.getInputStream().readNBytes(MOST_OUTPUT + 1);
      if (output.length > MOST_OUTPUT) {
        exceeds("an answer of " + (MOST_OUTPUT >> 20) + " MiB");
      }
      String answer = new String(output, StandardCharsets.UTF_8);
      int code = child.waitFor();
      if (code == OUT_OF_MEMORY) {
        exceeds(HEAP_MEGABYTES + " MB of memory");
      }
      String said = errors.join();
      synchronized (this) {
        return new Ended(code, answer, said, exceeded);
      }
    }

    private ProcessBuilder command() {
      List<String> command = new ArrayList<>();
      // The bound of processor time holds even if this process is killed meanwhile.
      long seconds = 2 * Math.max(1, within.toSeconds());
      command.add("/bin/sh");
      command.add("-c");
      command.add("ulimit -t " + seconds + "; exec nice -n 19 \"$0\" \"$@\"");
      command.add(launcher.toString());
      command.addAll(List.of("simulate", "--json", "--snapshot=-"));
      command.addAll(options);
      ProcessBuilder builder = new ProcessBuilder(command).directory(Path.of("/").toFile());
      Map<String, String> environment = builder.environment();
      environment.keySet().retainAll(VARIABLES);
      environment.put("JAVA_HOME", System.getProperty("java.home"));
      environment.put(
          "ESPALIER_JAVA_OPTS", "-Xmx" + HEAP_MEGABYTES + "m -XX:+ExitOnOutOfMemoryError");
      return builder;
    }
  }

  /** Tells the kernel to kill the child before anything else. */
  private static void yieldMemory(long pid) {
    try {
      Files.writeString(Path.of("/proc", Long.toString(pid), "oom_score_adj"), "1000");
    } catch (IOException e) {
      LOG.debug("the what-if {} has the usual place when memory runs out", pid, e);
    }
  }

  private static String text(InputStream from) {
    try (from) {
      String text = new String(from.readNBytes(MOST_ERRORS), StandardCharsets.UTF_8);
      from.transferTo(OutputStream.nullOutputStream());
      return text;
    } catch (IOException e) {
      return "";
    }
  }
}
