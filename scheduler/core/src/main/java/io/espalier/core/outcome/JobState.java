package io.espalier.core.outcome;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The state of a job as a whole (docs/design/features.md#states-of-jobs); if several apply, {@link
 * JobStateRules} selects one.
 */
public enum JobState {
  /** It may run, but no task was started yet. */
  WAITING,
  /** It has running or started tasks, and there is work left. */
  RUNNING,
  /** Enough tasks are done, and some of them are being verified. */
  VERIFYING,
  /** It is endless and may run: done tasks stay done, and new nodes are included. */
  OPEN,
  /** Enough tasks are done, and none run. */
  SUCCEEDED,
  /** Its failure rule was violated, or no tasks are left to run and too few are done. */
  FAILED,
  /** A check of its roll-out has failed, or an operator has halted it: nothing starts. */
  HALTED,
  /** None of its tasks run, and none can start unless an operator acts or nodes are added. */
  STUCK,
  /** An operator has stopped it: nothing starts, and running tasks were killed. */
  STOPPED,
  /** An operator has paused it: nothing starts. */
  PAUSED,
  /** The configuration keeps it from running. */
  DISABLED,
  /** Its configuration has errors. */
  INVALID;

  /** The name in the API, in events and in stores. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The state with that {@link #word}; null when there is none. */
  public static @Nullable JobState ofWord(String word) {
    for (JobState state : values()) {
      if (state.word().equals(word)) {
        return state;
      }
    }
    return null;
  }

  /**
   * Returns true when the job is finished: it starts nothing unless an operator acts or nodes are
   * added.
   */
  public boolean isEnd() {
    return this == SUCCEEDED || this == FAILED;
  }
}
