package io.espalier.worker.process.output;

import org.jspecify.annotations.Nullable;

/**
 * The marks that a prelude writes to the status channel, before everything else: that it is about
 * to become the task, and that this failed. Without a prelude there are none.
 */
public final class PreludeMarks {
  private @Nullable String secret;
  private boolean begun = true;
  private @Nullable String failed;

  /**
   * Expects a prelude; call it before the start.
   *
   * @param beginning the beginning of its marks, which no task knows
   */
  public void expect(String beginning) {
    secret = beginning;
    begun = false;
  }

  /** Reads a line of the status channel; returns whether it is a mark. */
  public boolean take(String line) {
    String own = secret;
    if (own == null || line.length() <= own.length() || !line.startsWith(own, 1)) {
      return false;
    }
    if (line.charAt(0) == '+') {
      begun = true;
      return true;
    }
    if (line.charAt(0) == '-') {
      begun = false;
      failed = line.substring(own.length() + 1).strip();
      return true;
    }
    return false;
  }

  /** Returns whether the process has become the task, as far as is known now. */
  public boolean hasBegun() {
    return begun;
  }

  /** Returns the exit code of an exec that failed at the last moment; null when none did. */
  public @Nullable String failedExec() {
    return failed;
  }
}
