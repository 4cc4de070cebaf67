package io.espalier.cli.term;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The capabilities of the terminal. The launcher determines whether a stream is a terminal, because
 * Java 17 cannot.
 *
 * @param interactive whether lines may be redrawn
 * @param colours whether to use escape sequences for colours
 * @param environment may contain the size; otherwise {@code stty} reports it
 */
public record Terminal(boolean interactive, boolean colours, Map<String, String> environment) {
  private static final int PLAIN_WIDTH = 100;

  /**
   * @param property the value of {@code -Despalier.terminal}, set by the launcher
   */
  public static Terminal detect(boolean property, Map<String, String> environment) {
    String term = environment.getOrDefault("TERM", "");
    boolean interactive = property && !term.equals("dumb");
    // https://no-color.org: present and not empty means no colour.
    boolean colours = interactive && environment.getOrDefault("NO_COLOR", "").isEmpty();
    return new Terminal(interactive, colours, environment);
  }

  public int width() {
    return interactive ? size(environment).columns() : PLAIN_WIDTH;
  }

  /** The size in columns and lines. */
  record Size(int columns, int lines) {
    static final Size UNKNOWN = new Size(0, 0);
    private static final Size USUAL = new Size(80, 24);
  }

  /** Returns the size of the terminal of this process; 80 x 24 if it is unknown. */
  static Size size(Map<String, String> environment) {
    int columns = positive(environment.getOrDefault("COLUMNS", ""));
    int lines = positive(environment.getOrDefault("LINES", ""));
    if (columns > 0 && lines > 0) {
      return new Size(columns, lines);
    }
    // Most shells do not export the size to programs.
    Size asked = stty();
    return new Size(columns > 0 ? columns : asked.columns(), lines > 0 ? lines : asked.lines());
  }

  private static Size stty() {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/tty")))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String answer = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      if (stty.waitFor(1, TimeUnit.SECONDS) && stty.exitValue() == 0) {
        String[] size = answer.trim().split(" ", 2);
        int lines = positive(size[0]);
        int columns = size.length == 2 ? positive(size[1]) : 0;
        return new Size(
            columns > 0 ? columns : Size.USUAL.columns(), lines > 0 ? lines : Size.USUAL.lines());
      }
    } catch (IOException e) {
      return Size.USUAL;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Size.USUAL;
  }

  private static int positive(String text) {
    try {
      return Math.max(0, Integer.parseInt(text));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
