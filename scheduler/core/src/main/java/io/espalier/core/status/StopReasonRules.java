package io.espalier.core.status;

import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What it means for a task that its runner stopped it (docs/adr/0012-time-limits.md). */
public final class StopReasonRules {
  /** The key under which the word stands in events and in the data of an error. */
  public static final String KEY = "stop_reason";

  private StopReasonRules() {}

  /** The word of the API and of events: {@code timeout}, {@code no_output} and so on. */
  public static String word(@Nullable StopReason reason) {
    return reason == null ? "" : reason.name().toLowerCase(Locale.ROOT);
  }

  /** The task went beyond what it was allowed: an error, with a step on the back-off ladder. */
  static boolean isError(@Nullable StopReason reason) {
    return reason == StopReason.TIMEOUT
        || reason == StopReason.NO_OUTPUT
        || reason == StopReason.OUT_OF_MEMORY;
  }

  /** It would have gone on: it keeps its step and needs no wait. */
  static boolean isNoFaultOfTheTask(@Nullable StopReason reason) {
    return reason == StopReason.DEADLINE
        || reason == StopReason.SHUTDOWN
        || reason == StopReason.LEASE_LOST;
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
    };
  }
}
