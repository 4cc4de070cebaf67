package io.espalier.core.status;

import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The effect on a task of being stopped by its runner (docs/adr/0012-time-limits.md). */
public final class StopReasonRules {
  /** The key of the reason in events and in the data of an error. */
  public static final String KEY = "stop_reason";

  private StopReasonRules() {}

  /** The reason as named by the API and by events: {@code timeout}, {@code no_output} and so on. */
  public static String word(@Nullable StopReason reason) {
    return reason == null ? "" : reason.name().toLowerCase(Locale.ROOT);
  }

  /** Returns true when the task exceeded a limit: an error that advances the back-off. */
  public static boolean isError(@Nullable StopReason reason) {
    return reason == StopReason.TIMEOUT
        || reason == StopReason.NO_OUTPUT
        || reason == StopReason.OUT_OF_MEMORY;
  }

  /**
   * Returns true when the task would have continued: its back-off does not advance and it need not
   * wait.
   */
  static boolean isNoFaultOfTheTask(@Nullable StopReason reason) {
    return reason == StopReason.DEADLINE
        || reason == StopReason.SHUTDOWN
        || reason == StopReason.LEASE_LOST
        || reason == StopReason.WINDOW_ENDED;
  }

  static String sentence(TaskResult end) {
    String said = end.message();
    if (said != null && !said.isEmpty()) {
      return StatusParser.shortened(said);
    }
    StopReason reason = end.stopReason();
    if (reason == null) {
      return "killed";
    }
    return switch (reason) {
      case REQUESTED -> "killed";
      case TIMEOUT -> "timed out: it ran longer than timeout_sec";
      case DEADLINE -> "stopped at its job's complete_by";
      case NO_OUTPUT -> "timed out: it wrote nothing for no_output_timeout_sec";
      case OUT_OF_MEMORY -> "went over its memory limit";
      case SHUTDOWN -> "its runner was stopped";
      case LEASE_LOST -> "its worker lost touch with the scheduler";
      case OVER_LIMIT -> "killed because more than a limit was in use";
      case WINDOW_ENDED -> "stopped because its window had ended";
    };
  }
}
