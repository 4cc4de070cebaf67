package io.espalier.cli.term;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flag {@code --watch} of list commands. */
public final class WatchOption {
  @Option(
      names = {"-w", "--watch"},
      arity = "0..1",
      fallbackValue = "2",
      paramLabel = "SECONDS",
      converter = DurationConverter.Seconds.class,
      description =
          "Look again every so many seconds (2 if none are given) until interrupted: redrawn in"
              + " place on a terminal, below a line with the time elsewhere.")
  private @Nullable Double seconds;

  public boolean on() {
    return seconds != null;
  }

  /** Returns what is wrong with the period, or null. */
  public @Nullable String complaint() {
    boolean right = seconds == null || (seconds >= 0.1 && seconds <= 86_400);
    return right ? null : "--watch must be from 0.1 to 86400 seconds";
  }

  public Duration every() {
    return Duration.ofMillis((long) (1000 * (seconds == null ? 2 : seconds)));
  }

  /** Redraws a picture in place by overwriting the lines of the previous one. */
  public static final class Picture {
    private int drawn;

    /**
     * Returns the text that replaces the previous lines on the terminal.
     *
     * @param lines each at most as wide as the terminal
     * @param height of the terminal; lines that do not fit are replaced by a note
     */
    public String over(List<String> lines, int height) {
      int room = Math.max(2, height - 1);
      StringBuilder frame = new StringBuilder();
      if (drawn > 0) {
        frame.append("\u001b[").append(drawn).append('A');
      }
      boolean all = lines.size() <= room;
      int shown = all ? lines.size() : room - 1;
      for (String line : lines.subList(0, shown)) {
        frame.append('\r').append(line).append("\u001b[K\n");
      }
      if (!all) {
        frame.append("… and ").append(lines.size() - shown).append(" more lines\u001b[K\n");
      }
      drawn = all ? shown : shown + 1;
      return frame.append("\u001b[J").toString();
    }
  }
}
