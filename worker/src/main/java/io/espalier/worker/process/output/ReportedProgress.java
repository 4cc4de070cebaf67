package io.espalier.worker.process.output;

import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import io.espalier.core.status.ProgressParser;
import org.jspecify.annotations.Nullable;

/**
 * What one task has said of its progress, and counted. Counters are added up. Of several lines that
 * arrive together only the newest progress is reported: no other matters, and a task that writes
 * nothing else cannot overload anybody.
 */
public final class ReportedProgress {
  private Progress newest = Progress.NONE;
  private boolean hasNews;
  private @Nullable String problem;

  /** Takes what a line says. */
  public void take(ProgressParser.Reading reading) {
    if (reading.progress() != null) {
      newest = reading.progress().withCounters(newest.counters());
      hasNews = true;
    }
    if (!reading.counters().isEmpty()) {
      count(reading.counters());
    }
    if (reading.problem() != null) {
      problem = reading.problem();
    }
  }

  private void count(Counters more) {
    Counters sums = newest.counters().plus(more);
    if (sums.values().size() > Counters.MOST_NAMES) {
      problem = "count has names beyond the " + Counters.MOST_NAMES + " that a task may have";
      return;
    }
    newest = newest.withCounters(sums);
    hasNews = true;
  }

  /** Returns the progress since the last call; null when there is none. */
  public @Nullable Progress takeProgress() {
    Progress taken = hasNews ? newest : null;
    hasNews = false;
    return taken;
  }

  /** Returns what the task has counted since its start. */
  public Counters counters() {
    return newest.counters();
  }

  /** Returns why a line was dropped since the last call; null when none was. */
  public @Nullable String takeProblem() {
    String taken = problem;
    problem = null;
    return taken;
  }
}
