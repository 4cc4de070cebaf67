package io.espalier.e2e.drill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs small commands of the system. */
final class Shell {
  private static final int PATIENCE_SECONDS = 20;

  private Shell() {}

  /**
   * Runs a command to its end.
   *
   * @throws IllegalStateException with what it printed, when it failed
   */
  static void run(String... command) {
    String output = tryToRun(command);
    if (output != null) {
      throw new IllegalStateException(String.join(" ", command) + ": " + output);
    }
  }

  /** Null when it succeeded, else what it said. */
  static @Nullable String tryToRun(String... command) {
    try {
      Process process = new ProcessBuilder(List.of(command)).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return "does not end";
      }
      return process.exitValue() == 0 ? null : process.exitValue() + " " + output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
