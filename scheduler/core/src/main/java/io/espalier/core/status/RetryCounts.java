package io.espalier.core.status;

import io.espalier.core.config.ProgressRetryRules;
import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The failures of a task as {@link ProgressRetryRules} count them
 * (docs/design/features.md#retries-that-look-at-progress), since it was last forgiven, or ever.
 * Kept with its status; no count goes beyond {@link Integer#MAX_VALUE}.
 *
 * @param successive those without progress in a row, up to now
 * @param noProgress those without progress in all
 * @param progress those with progress in all
 * @param gotOn whether the attempt under way has made progress already; false when none is
 */
public record RetryCounts(int successive, int noProgress, int progress, boolean gotOn) {
  /** Of a task that has not failed. */
  public static final RetryCounts NONE = new RetryCounts(0, 0, 0, false);

  /** After an attempt that failed, {@link #gotOn} or not. */
  RetryCounts failed() {
    return gotOn
        ? new RetryCounts(0, noProgress, more(progress), false)
        : new RetryCounts(more(successive), more(noProgress), progress, false);
  }

  /** After an attempt whose end is no failure of the task: its progress ends the row. */
  RetryCounts ended() {
    return new RetryCounts(gotOn ? 0 : successive, noProgress, progress, false);
  }

  /** After an attempt that somebody stopped: counted where it made progress, not otherwise. */
  RetryCounts stopped() {
    return gotOn ? failed() : this;
  }

  /** The attempt under way has made progress, or there is a new one. */
  public RetryCounts withGotOn(boolean now) {
    return gotOn == now ? this : new RetryCounts(successive, noProgress, progress, now);
  }

  /** The rule that lets the task fail for good now; null: none does. */
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

  /** {@code [successive, noProgress, progress]}, then 1 where it got on. */
  Json json() {
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
   * What {@link #json} wrote; null: nothing.
   *
   * @throws IllegalArgumentException when it is something else
   */
  static RetryCounts of(@Nullable Json json) {
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
