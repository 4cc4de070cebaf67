package io.espalier.e2e;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * One process of the program, started like a user starts it and looked at from outside. Every wait
 * is bounded; whatever is still alive at {@link #close} is killed.
 */
final class Espalier implements AutoCloseable {
  /** What a scheduler of a group says when it begins to lead. */
  static final String LEADING = "espalier: leading\n";

  private static final int PATIENCE_SECONDS = 90;
  private static final Pattern LISTENING = Pattern.compile("listening on (http://\\S+)");
  private static final Pattern EXPECTED = Pattern.compile("workers are expected at (\\S+)");

  static {
    // What a test waits for may not be there yet when it asks: a job whose configuration is not in
    // force, a leader that takes over. An error of the server is one at any time.
    Awaitility.ignoreExceptionsByDefaultMatching(
        failure -> !String.valueOf(failure.getMessage()).contains(": 500 "));
  }

  private final Process process;
  private final Path stdout;
  private final Path stderr;
  private final String commandLine;

  /** How a process ended. */
  record Ended(int code, String stdout, String stderr) {
    /** Standard output, which must be one JSON object. */
    Json.Obj json() {
      return parsed(stdout);
    }
  }

  private Espalier(Process process, Path stdout, Path stderr, String commandLine) {
    this.process = process;
    this.stdout = stdout;
    this.stderr = stderr;
    this.commandLine = commandLine;
  }

  /** Starts {@code espalier ARGUMENTS} in a directory. */
  static Espalier start(Path directory, String... arguments) {
    List<String> command = new ArrayList<>();
    if (interruptsAreIgnored()) {
      // Children inherit that, for example from a shell that runs all this in the background.
      command.addAll(List.of("env", "--default-signal=INT"));
    }
    command.addAll(Distribution.command("WARN"));
    command.addAll(List.of(arguments));
    try {
      Path stdout = Files.createTempFile(directory, "espalier-", ".out");
      Path stderr = Files.createTempFile(directory, "espalier-", ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectOutput(stdout.toFile())
              .redirectError(stderr.toFile());
      builder.environment().keySet().removeIf(name -> name.startsWith("ESPALIER_"));
      return new Espalier(builder.start(), stdout, stderr, String.join(" ", arguments));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts it and waits for its end. */
  static Ended run(Path directory, String... arguments) {
    try (Espalier espalier = start(directory, arguments)) {
      return espalier.ended();
    }
  }

  private static boolean interruptsAreIgnored() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("SigIgn:")) {
          return (Long.parseUnsignedLong(line.substring(7).trim(), 16) & 2) != 0;
        }
      }
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the end. */
  Ended ended() {
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("still running: " + commandLine + "\n" + stdout() + stderr());
      }
      return new Ended(process.exitValue(), stdout(), stderr());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a signal, such as {@code INT}. */
  Espalier signal(String name) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
          .inheritIO()
          .start()
          .waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** What it has printed so far. */
  String stdout() {
    return text(stdout);
  }

  String stderr() {
    return text(stderr);
  }

  /** Where it serves HTTP; waits until it says so. */
  String url() {
    return said(LISTENING);
  }

  /** Where it expects workers; waits until it says so. */
  String forWorkers() {
    return said(EXPECTED);
  }

  /** Waits until it leads. */
  void awaitLeading() {
    awaitSaid(LEADING);
  }

  /** Waits until a regular expression is found in its standard error. */
  void awaitSaid(String words) {
    awaitSaid(words, 1);
  }

  /** Waits until a regular expression is found in its standard error a number of times. */
  void awaitSaid(String words, int times) {
    await().until(() -> !process.isAlive() || countSaid(words) >= times);
    if (countSaid(words) < times) {
      throw new AssertionError("it has ended without \"" + words + "\": " + stderr());
    }
  }

  private int countSaid(String words) {
    return stderr().split(words, -1).length - 1;
  }

  /** Waits until this standby names the leader. */
  void awaitLeader(Espalier leader) {
    Http http = new Http(url());
    await().until(() -> Site.text(http.get("/readyz"), "leader_url").equals(leader.url()));
  }

  private String said(Pattern pattern) {
    await().until(() -> !process.isAlive() || pattern.matcher(stderr()).find());
    Matcher matcher = pattern.matcher(stderr());
    if (!matcher.find()) {
      throw new AssertionError(stderr());
    }
    return matcher.group(1);
  }

  private static ConditionFactory await() {
    return Awaitility.await().atMost(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Text that must be one JSON object. */
  static Json.Obj parsed(String text) {
    Json value = JsonReader.parse(text).value();
    if (value instanceof Json.Obj object) {
      return object;
    }
    throw new AssertionError("no JSON object: " + text);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
