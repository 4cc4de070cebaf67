package io.espalier.server.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What the terminal can do. The launcher tells whether standard error is one: Java 17 cannot.
 *
 * @param interactive lines may be redrawn
 * @param colours escape sequences for colours are welcome
 */
record Terminal(boolean interactive, boolean colours, int width) {
  private static final int PLAIN_WIDTH = 100;

  /**
   * @param property the value of {@code -Despalier.terminal}, set by the launcher
   */
  static Terminal detect(boolean property, Map<String, String> environment) {
    String term = environment.getOrDefault("TERM", "");
    boolean interactive = property && !term.equals("dumb");
    // https://no-color.org: present and not empty means no colour.
    boolean colours = interactive && environment.getOrDefault("NO_COLOR", "").isEmpty();
    return new Terminal(interactive, colours, interactive ? width(environment) : PLAIN_WIDTH);
  }

  private static int width(Map<String, String> environment) {
    try {
      int columns = Integer.parseInt(environment.getOrDefault("COLUMNS", ""));
      if (columns > 0) {
        return columns;
      }
    } catch (NumberFormatException e) {
      // Not set for programs by most shells: ask the terminal.
    }
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/tty")))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      if (stty.waitFor(1, TimeUnit.SECONDS) && stty.exitValue() == 0) {
        int columns = Integer.parseInt(size.trim().replaceFirst(".* ", ""));
        return columns > 0 ? columns : 80;
      }
    } catch (IOException | RuntimeException e) {
      return 80;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 80;
  }
}
