package io.espalier.worker.process.output;

import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import io.espalier.core.status.ProgressParser;
import org.jspecify.annotations.Nullable;

/**
 * Separates what arrives through the status pipe of a task that runs alone: the marks of its
 * prelude, progress, counters, and the status.
 */
public final class StatusPipe {
  private final ProgressParser text;
  private final PreludeMarks marks;
  private final ReportedProgress reported = new ReportedProgress();
  private final StatusLine status = new StatusLine(this::isTaken);

  /**
   * @param marks those of its prelude
   */
  public StatusPipe(ProgressParser text, PreludeMarks marks) {
    this.text = text;
    this.marks = marks;
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

  /** Returns the progress since the last call; null when there is none. */
  public @Nullable Progress takeProgress() {
    return reported.takeProgress();
  }

  /** Returns what the task has counted since its start. */
  public Counters counters() {
    return reported.counters();
  }

  /** Returns why a progress line was dropped since the last call; null when none was. */
  public @Nullable String takeProblem() {
    return reported.takeProblem();
  }

  private boolean isTaken(String line) {
    if (marks.take(line)) {
      return true;
    }
    ProgressParser.Reading reading = text.read(line);
    reported.take(reading);
    return !reading.isStatus();
  }
}
