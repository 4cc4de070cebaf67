package io.espalier.worker.process.output;

import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import io.espalier.core.status.ProgressParser;
import org.jspecify.annotations.Nullable;

/**
 * Separates what arrives through a task's status pipe: the marks of its prelude, progress,
 * counters, and the status. Counters are added up. Of several progress lines that arrive together
 * only the newest is reported: no other matters, and a task that writes nothing else cannot
 * overload anybody.
 */
public final class StatusPipe {
  private final ProgressParser text;
  private final @Nullable String secret;
  private final StatusLine status = new StatusLine(this::isTaken);
  private boolean begun;
  private @Nullable String failed;
  private Progress newest = Progress.NONE;
  private boolean hasNews;
  private @Nullable String problem;

  /**
   * @param secret beginning of the prelude's marks; null: there is no prelude
   */
  public StatusPipe(ProgressParser text, @Nullable String secret) {
    this.text = text;
    this.secret = secret;
    this.begun = secret == null;
  }

  public void add(byte[] bytes, int length) {
    status.add(bytes, length);
  }

  public void close() {
    status.close();
  }

  /** Returns the status line; null as long as there is none. */
  public @Nullable String last() {
    return status.last();
  }

  /** Returns whether the task itself has begun, as far as is known now. */
  public boolean hasBegun() {
    return begun;
  }

  /** Returns the exit code of an exec that failed at the last moment; null when none did. */
  public @Nullable String failedExec() {
    return failed;
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

  /** Returns why a progress line was dropped since the last call; null when none was. */
  public @Nullable String takeProblem() {
    String taken = problem;
    problem = null;
    return taken;
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

  private boolean isTaken(String line) {
    if (secret != null && line.length() > secret.length() && line.startsWith(secret, 1)) {
      if (line.charAt(0) == '+') {
        begun = true;
        return true;
      }
      if (line.charAt(0) == '-') {
        begun = false;
        failed = line.substring(secret.length() + 1).strip();
        return true;
      }
    }
    ProgressParser.Reading reading = text.read(line);
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
    return !reading.isStatus();
  }
}
