package io.espalier.core.status;

import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Counts of a task's failures for {@link ProgressRetryRules}
 * (docs/design/features.md#retries-that-look-at-progress), since it was last forgiven, or ever.
 * Stored with its status; no count exceeds {@link Integer#MAX_VALUE}.
 *
 * @param successive successive failures without progress, up to now
 * @param noProgress all failures without progress
 * @param progress all failures with progress
 * @param gotOn whether the running attempt has already made progress; false when none is running
 */
public record RetryCounts(int successive, int noProgress, int progress, boolean gotOn) {
  /** The counts of a task that has not failed. */
  public static final RetryCounts NONE = new RetryCounts(0, 0, 0, false);

  /** The counts after a failed attempt, which made progress if {@link #gotOn}. */
  RetryCounts failed() {
    return gotOn
        ? new RetryCounts(0, noProgress, more(progress), false)
        : new RetryCounts(more(successive), more(noProgress), progress, false);
  }

  /**
   * The counts after an attempt whose end is not a failure of the task: progress resets {@code
   * successive}.
   */
  RetryCounts ended() {
    return new RetryCounts(gotOn ? 0 : successive, noProgress, progress, false);
  }

  /** The counts after a stopped attempt: it is counted only if it made progress. */
  RetryCounts stopped() {
    return gotOn ? failed() : this;
  }

  /** The counts after the running attempt has made progress, or for a new attempt. */
  public RetryCounts withGotOn(boolean now) {
    return gotOn == now ? this : new RetryCounts(successive, noProgress, progress, now);
  }

  /** The rule by which the task now fails permanently; null when none applies. */
  public @Nullable String exhausted(ProgressRetryRules rules) {
    if (successive >= rules.maxSuccessiveNoProgress()) {
      return times(successive, "failure")
          + " in a row without progress (max_successive_no_progress)";
    }
    if (noProgress >= rules.maxTotalNoProgress()) {
      return times(noProgress, "failure") + " without progress (max_total_no_progress)";
    }
    return progress >= rules.maxTotalProgress()
        ? times(progress, "failure") + " with progress (max_total_progress)"
        : null;
  }

  private static String times(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private static int more(int count) {
    return count == Integer.MAX_VALUE ? count : count + 1;
  }

  /** Encodes as {@code [successive, noProgress, progress]}, followed by 1 if {@code gotOn}. */
  public Json json() {
    List<Json> items = new ArrayList<>();
    items.add(Json.of(successive));
    items.add(Json.of(noProgress));
    items.add(Json.of(progress));
    if (gotOn) {
      items.add(Json.of(1));
    }
    return new Json.Arr(items);
  }

  /**
   * Decodes the result of {@link #json}; null: no counts.
   *
   * @throws IllegalArgumentException when the value is malformed
   */
  public static RetryCounts of(@Nullable Json json) {
    if (json == null) {
      return NONE;
    }
    if (!(json instanceof Json.Arr array) || array.items().size() < 3) {
      throw new IllegalArgumentException("not counts of retries: " + json);
    }
    List<Json> items = array.items();
    return new RetryCounts(
        count(items.get(0)), count(items.get(1)), count(items.get(2)), items.size() > 3);
  }

  private static int count(Json json) {
    BigDecimal number = json instanceof Json.Num num ? num.value() : BigDecimal.ONE.negate();
    if (number.signum() < 0) {
      throw new IllegalArgumentException("not a count of retries: " + json);
    }
    return number.intValueExact();
  }
}
