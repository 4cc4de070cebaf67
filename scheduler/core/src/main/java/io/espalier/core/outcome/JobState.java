package io.espalier.core.outcome;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How a job as a whole stands (docs/design/features.md#states-of-jobs); of several that apply
 * {@link JobStateRules} picks one.
 */
public enum JobState {
  /** May run; nothing of it was started yet. */
  WAITING,
  /** Something of it runs, or was started, and there is work left. */
  RUNNING,
  /** Endless, and it may run: what is done stays done, and nodes that come are taken up. */
  OPEN,
  /** As much is done as must be, and nothing runs. */
  SUCCEEDED,
  /** Its failure rule was broken, or nothing is left to run and too little is done. */
  FAILED,
  /** Nothing of it runs, and nothing can start unless somebody acts or nodes come. */
  STUCK,
  /** An operator has stopped it: nothing starts, and what ran was killed. */
  STOPPED,
  /** An operator has paused it: nothing starts. */
  PAUSED,
  /** The configuration says that nothing of it runs. */
  DISABLED,
  /** Its configuration has errors. */
  INVALID;

  /** As in the API, in events and in stores. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The state of that {@link #word}; null: there is none. */
  public static @Nullable JobState ofWord(String word) {
    for (JobState state : values()) {
      if (state.word().equals(word)) {
        return state;
      }
    }
    return null;
  }

  /** Whether the job is through: it starts nothing unless somebody acts or nodes come. */
  public boolean isEnd() {
    return this == SUCCEEDED || this == FAILED;
  }
}
