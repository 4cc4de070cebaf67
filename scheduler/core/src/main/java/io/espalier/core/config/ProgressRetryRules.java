package io.espalier.core.config;

import java.util.List;

/**
 * {@code retry}: retries that look at progress, in place of {@code backoff}
 * (docs/design/features.md#retries-that-look-at-progress). An attempt made progress when its cursor
 * changed or its {@code done} grew.
 *
 * @param maxSuccessiveNoProgress attempts in a row without progress until the task fails for good
 * @param maxTotalNoProgress attempts without progress in all
 * @param maxTotalProgress unsuccessful attempts with progress in all
 * @param noProgressBackoffSeconds waits after the 1st, 2nd, ... attempt in a row without progress;
 *     the last one repeats; never empty
 * @param progressBackoffSeconds wait after an attempt with progress
 */
public record ProgressRetryRules(
    int maxSuccessiveNoProgress,
    int maxTotalNoProgress,
    int maxTotalProgress,
    List<Integer> noProgressBackoffSeconds,
    int progressBackoffSeconds) {
  /** What a {@code retry} that says nothing means. */
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
   * @param successive which one in a row it was, from 1; 0 stands for 1
   */
  public int noProgressWait(int successive) {
    int at = Math.min(Math.max(successive, 1), noProgressBackoffSeconds.size()) - 1;
    return noProgressBackoffSeconds.get(at);
  }
}
