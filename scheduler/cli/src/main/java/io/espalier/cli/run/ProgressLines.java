package io.espalier.cli.run;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.scheduling.query.NextAttempt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Formats counts as lines for people: a bar per job, its states, its rate and the time left. It
 * does no I/O: the caller supplies counts and times and prints the lines. Not thread-safe.
 */
final class ProgressLines {
  private static final String EIGHTHS = " ▏▎▍▌▋▊▉█";

  /** The half-life of the weight of an observation in the rate. */
  private static final double HALF_LIFE_MILLIS = 5_000;

  private static final String GREEN = "\u001b[32m";
  private static final String RED = "\u001b[31m";
  private static final String YELLOW = "\u001b[33m";
  private static final String CYAN = "\u001b[36m";
  private static final String DIM = "\u001b[2m";
  private static final String RESET = "\u001b[0m";

  private final Map<String, Rate> rates = new HashMap<>();
  private final boolean colours;

  ProgressLines(boolean colours) {
    this.colours = colours;
  }

  /**
   * Returns one line per job, at most {@code width} columns wide.
   *
   * @param next the back-off that ends first, if it is known
   * @param nowMillis epoch milliseconds, which never jump
   */
  List<String> render(
      Collection<JobProgress> jobs, Optional<NextAttempt> next, long nowMillis, int width) {
    int names = jobs.stream().mapToInt(j -> j.job().length()).max().orElse(0);
    int nameWidth = Math.min(names, Math.max(8, width / 4));
    List<String> lines = new ArrayList<>();
    for (JobProgress job : jobs) {
      Rate rate = rates.computeIfAbsent(job.job(), n -> new Rate());
      rate.update(job.done(), nowMillis);
      String facts =
          facts(job, rate, next.filter(first -> first.job().equals(job.job())), nowMillis);
      String count =
          String.format(Locale.ROOT, "%" + width(job.total()) + "d/%d", job.done(), job.total());
      int room = width - nameWidth - count.length() - visible(facts) - 6;
      String bar = room >= 8 ? bar(job, Math.min(room, 40)) + "  " : "";
      lines.add(pad(job.job(), nameWidth) + "  " + bar + count + "  " + facts);
    }
    return lines;
  }

  private String facts(JobProgress job, Rate rate, Optional<NextAttempt> next, long nowMillis) {
    StringBuilder out = new StringBuilder();
    out.append(paint(CYAN, job.running() + " running"));
    if (job.waiting() > 0) {
      out.append(", ").append(paint(YELLOW, job.waiting() + " backing off"));
    }
    if (job.failed() > 0) {
      out.append(", ").append(paint(RED, job.failed() + " failed"));
    }
    if (job.cancelled() > 0) {
      out.append(", ").append(paint(DIM, job.cancelled() + " cancelled"));
    }
    if (job.blocked() > 0) {
      out.append(", ").append(paint(YELLOW, job.blocked() + " blocked"));
    }
    long left = job.total() - job.done() - job.failed() - job.cancelled() - job.blocked();
    boolean onlyWaits = job.waiting() > 0 && job.running() == 0 && job.ready() == 0;
    if (job.done() + job.cancelled() == job.total()) {
      out.append(paint(GREEN, ", complete"));
    } else if (left == 0 && job.blocked() == 0) {
      out.append(", ended");
    } else if (onlyWaits) {
      next.map(first -> Math.max(1, ceilSeconds(first.atMillis() - nowMillis)))
          .ifPresent(seconds -> out.append(", next attempt in ").append(duration(seconds)));
    } else if (left > 0 && rate.perSecond() > 0.05) {
      out.append(String.format(Locale.ROOT, ", %.1f/s, ", rate.perSecond()))
          .append(duration(Math.round(left / rate.perSecond())))
          .append(" left");
    }
    return out.toString();
  }

  private String bar(JobProgress job, int cells) {
    if (job.total() == 0) {
      return paint(DIM, "·".repeat(cells));
    }
    long eighths = cells * 8L * job.done() / job.total();
    int full = (int) (eighths / 8);
    int failed = (int) Math.min(cells - full, ceilShare(job.failed(), job.total(), cells));
    int rest = cells - full - failed;
    int part = rest > 0 ? (int) (eighths % 8) : 0;
    int running =
        (int) Math.min(rest - (part > 0 ? 1 : 0), ceilShare(job.running(), job.total(), cells));
    int empty = rest - (part > 0 ? 1 : 0) - running;
    return paint(GREEN, "█".repeat(full) + (part > 0 ? EIGHTHS.charAt(part) : ""))
        + paint(CYAN, "░".repeat(Math.max(0, running)))
        + paint(DIM, "·".repeat(Math.max(0, empty)))
        + paint(RED, "█".repeat(failed));
  }

  private static long ceilSeconds(long millis) {
    return Math.floorDiv(millis + 999, 1000L);
  }

  private static long ceilShare(long count, long total, int cells) {
    return (count * cells + total - 1) / total;
  }

  private String paint(String colour, String text) {
    return colours && !text.isEmpty() ? colour + text + RESET : text;
  }

  private static int width(long number) {
    return Long.toString(number).length();
  }

  private static int visible(String text) {
    return text.replaceAll("\u001b\\[[0-9;]*m", "").length();
  }

  private static String pad(String text, int width) {
    return text.length() > width
        ? text.substring(0, Math.max(0, width - 1)) + "…"
        : text + " ".repeat(width - text.length());
  }

  /**
   * Formats a duration with at most two units: {@code 45 s}, {@code 3 min 20 s}, {@code 2 h 5 min}.
   */
  static String duration(long seconds) {
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3600) {
      return seconds / 60 + " min" + (seconds % 60 == 0 ? "" : " " + seconds % 60 + " s");
    }
    long minutes = seconds % 3600 / 60;
    return seconds / 3600 + " h" + (minutes == 0 ? "" : " " + minutes + " min");
  }

  /** An exponentially decayed rate that does not depend on how often it is read. */
  private static final class Rate {
    private long doneAtStart = -1;
    private long startMillis;
    private long lastDone;
    private long lastMillis;
    private double weighted;
    private double weight;

    void update(long done, long nowMillis) {
      if (doneAtStart < 0) {
        doneAtStart = done;
        startMillis = nowMillis;
        lastDone = done;
        lastMillis = nowMillis;
        return;
      }
      long passed = nowMillis - lastMillis;
      if (passed <= 0) {
        return;
      }
      double keep = Math.pow(0.5, passed / HALF_LIFE_MILLIS);
      weighted = weighted * keep + Math.max(0, done - lastDone);
      weight = weight * keep + passed;
      lastDone = done;
      lastMillis = nowMillis;
    }

    double perSecond() {
      return weight < 500 || lastMillis == startMillis ? 0 : weighted * 1000 / weight;
    }
  }
}
