package io.espalier.core.config.task;

import java.util.List;

/**
 * Retry rules that consider progress, {@code retry}, which replace {@code backoff}
 * (docs/design/features.md#retries-that-look-at-progress). An attempt made progress when its cursor
 * changed or its {@code done} grew.
 *
 * @param maxSuccessiveNoProgress successive attempts without progress after which the task fails
 *     permanently
 * @param maxTotalNoProgress the same for all attempts without progress
 * @param maxTotalProgress the same for all unsuccessful attempts with progress
 * @param noProgressBackoffSeconds waits after the 1st, 2nd, ... successive attempt without
 *     progress; the last one repeats; never empty
 * @param progressBackoffSeconds wait after an attempt with progress
 */
public record ProgressRetryRules(
    int maxSuccessiveNoProgress,
    int maxTotalNoProgress,
    int maxTotalProgress,
    List<Integer> noProgressBackoffSeconds,
    int progressBackoffSeconds) {
  /** The rules for an empty {@code retry}. */
  public static final ProgressRetryRules DEFAULT =
      new ProgressRetryRules(5, 10, 20, List.of(10, 30, 90, 270), 0);

  public ProgressRetryRules {
    noProgressBackoffSeconds = List.copyOf(noProgressBackoffSeconds);
    if (noProgressBackoffSeconds.isEmpty()) {
      throw new IllegalArgumentException("no waits");
    }
  }

  /**
   * Seconds to wait after an attempt without progress.
   *
   * @param successive its number in the succession, from 1; 0 is treated as 1
   */
  public int noProgressWait(int successive) {
    int at = Math.min(Math.max(successive, 1), noProgressBackoffSeconds.size()) - 1;
    return noProgressBackoffSeconds.get(at);
  }
}
