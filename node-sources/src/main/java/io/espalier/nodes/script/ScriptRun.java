package io.espalier.nodes.script;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a script once: without a shell, with empty standard input, in a session and process group of
 * its own. The whole group is killed when the time is up, the output too long, or the thread
 * interrupted.
 *
 * <p>A run ends when the script's own process ends. Background processes that it leaves are killed,
 * unless they have a session of their own; their later output is not read.
 */
final class ScriptRun {
  private static final Logger log = LoggerFactory.getLogger(ScriptRun.class);
  private static final File NOTHING = new File("/dev/null");
  private static final Duration END_OF_OUTPUT = Duration.ofSeconds(5);
  private static final Duration END_OF_ERRORS = Duration.ofMillis(500);

  private final List<String> command;
  private final String dataDirectory;
  private final Duration timeout;
  private final AtomicLong budget;
  private final ExecutorService readers;

  /**
   * @param command script and its arguments
   * @param budget remaining bytes of output, shared between runs
   * @param readers runs the reading threads; must never reject a task
   */
  ScriptRun(
      List<String> command,
      String dataDirectory,
      Duration timeout,
      AtomicLong budget,
      ExecutorService readers) {
    this.command = command;
    this.dataDirectory = dataDirectory;
    this.timeout = timeout;
    this.budget = budget;
    this.readers = readers;
  }

  /**
   * Runs the script on the calling thread, which must live until this method returns: the kernel
   * kills the script when the thread that started it ends, and therefore also when this whole
   * program dies.
   */
  ScriptOutput run() throws ScriptException, InterruptedException {
    Process process = start();
    ScriptOutput output = new ScriptOutput();
    ErrorTail errors = new ErrorTail();
    Future<Boolean> outputRead =
        readers.submit(
            () -> {
              boolean complete = output.readFrom(process.getInputStream(), budget);
              if (!complete) {
                kill(process);
              }
              return complete;
            });
    Future<?> errorsRead = readers.submit(() -> errors.readFrom(process.getErrorStream()));
    try {
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        kill(process);
        ended(errorsRead, END_OF_ERRORS);
        throw new ScriptException(
            "did not end within " + seconds(timeout) + " s and was killed" + errors);
      }
      // Java itself may or may not stop reading soon after the end of the process. A process that
      // still has the pipe open must make no difference.
      signalGroup(process.pid());
      if (!ended(outputRead, END_OF_OUTPUT)) {
        log.warn("{} left a process behind that holds its output open", command.get(0));
        output.seal();
      }
      return checked(process, output, outputRead, errorsRead, errors);
    } catch (InterruptedException e) {
      kill(process);
      throw e;
    }
  }

  private static ScriptOutput checked(
      Process process,
      ScriptOutput output,
      Future<Boolean> outputRead,
      Future<?> errorsRead,
      ErrorTail errors)
      throws ScriptException, InterruptedException {
    try {
      if (outputRead.isDone() && !outputRead.get()) {
        throw new ScriptException(
            "was killed: the output of one fetch may not exceed "
                + (ScriptOutput.MAX_BYTES >> 20)
                + " MiB");
      }
    } catch (ExecutionException e) {
      throw new ScriptException("wrote output that could not be read: " + e.getCause());
    }
    int code = process.exitValue();
    if (code != 0) {
      ended(errorsRead, END_OF_ERRORS);
      String signal = code > 128 ? " (as after signal " + (code - 128) + ")" : "";
      throw new ScriptException("ended with exit code " + code + signal + errors);
    }
    return output;
  }

  private Process start() throws ScriptException {
    List<String> wrapped = new ArrayList<>();
    if (onPath("setpriv")) {
      wrapped.addAll(List.of("setpriv", "--pdeathsig", "KILL", "--"));
    }
    wrapped.add("setsid");
    wrapped.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(wrapped).redirectInput(NOTHING);
    // Scripts must not see the flags of this program, some of which locate its secrets.
    builder.environment().keySet().removeIf(name -> name.startsWith("ESPALIER_"));
    if (!dataDirectory.isEmpty()) {
      builder.environment().put("ESPALIER_DATA_DIR", dataDirectory);
    }
    try {
      return builder.start();
    } catch (IOException e) {
      throw new ScriptException("could not be started: " + e.getMessage());
    }
  }

  private static boolean onPath(String program) {
    String path = System.getenv("PATH");
    if (path == null) {
      return false;
    }
    for (String directory : path.split(File.pathSeparator, -1)) {
      if (new File(directory, program).canExecute()) {
        return true;
      }
    }
    return false;
  }

  private static boolean ended(Future<?> reading, Duration atMost) throws InterruptedException {
    try {
      reading.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  /** Kills the whole group, and returns when the script's own process is gone. */
  private static void kill(Process process) {
    boolean groupKilled = signalGroup(process.pid());
    process.destroyForcibly();
    if (!groupKilled) {
      // It may have become a group after the first attempt: then its children are in it.
      signalGroup(process.pid());
    }
    waitUninterruptibly(process);
  }

  private static boolean signalGroup(long group) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-KILL", "--", "-" + group)
              .redirectInput(NOTHING)
              .redirectOutput(NOTHING)
              .redirectError(NOTHING)
              .start();
      return waitUninterruptibly(kill) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static int waitUninterruptibly(Process process) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return process.waitFor();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? Long.toString(duration.toSeconds())
        : Double.toString(duration.toMillis() / 1000.0);
  }

  /** Keeps the end of what a script wrote to standard error. */
  private static final class ErrorTail {
    private static final int MAX_BYTES = 4096;
    private static final int MAX_LINES = 10;

    private final byte[] ring = new byte[MAX_BYTES];
    private long written;

    void readFrom(InputStream in) {
      byte[] buffer = new byte[MAX_BYTES];
      try {
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          add(buffer, read);
        }
      } catch (IOException e) {
        // The pipe broke when the process was killed: the text received so far is complete.
      }
    }

    private synchronized void add(byte[] bytes, int length) {
      for (int i = 0; i < length; i++) {
        ring[(int) (written++ % MAX_BYTES)] = bytes[i];
      }
    }

    /** Returns the text as the end of a sentence; empty when the script wrote nothing. */
    @Override
    public synchronized String toString() {
      int length = (int) Math.min(written, MAX_BYTES);
      byte[] tail = new byte[length];
      for (int i = 0; i < length; i++) {
        tail[i] = ring[(int) ((written - length + i) % MAX_BYTES)];
      }
      List<String> lines =
          new ArrayList<>(new String(tail, StandardCharsets.UTF_8).lines().toList());
      if (written > MAX_BYTES && lines.size() > 1) {
        lines.remove(0);
      }
      lines.removeIf(String::isBlank);
      if (lines.isEmpty()) {
        return "; it wrote nothing to standard error";
      }
      int from = Math.max(0, lines.size() - MAX_LINES);
      String text = String.join("\n", lines.subList(from, lines.size()));
      return "; the end of its standard error:\n" + text.replaceAll("[\\p{Cntrl}&&[^\n\t]]", "?");
    }
  }
}
