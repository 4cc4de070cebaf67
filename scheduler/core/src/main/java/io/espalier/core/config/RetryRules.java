package io.espalier.core.config;

import java.util.List;

/**
 * {@code retry}: retries that look at progress, in place of {@code backoff} (features R10 to R16).
 * An attempt made progress when its cursor changed or its {@code done} grew.
 *
 * @param maxSuccessiveNoProgress attempts in a row without progress until the task fails for good
 * @param maxTotalNoProgress attempts without progress in all
 * @param maxTotalProgress unsuccessful attempts with progress in all
 * @param noProgressBackoffSeconds waits after the 1st, 2nd, ... attempt in a row without progress;
 *     the last one repeats
 * @param progressBackoffSeconds wait after an attempt with progress
 */
public record RetryRules(
    int maxSuccessiveNoProgress,
    int maxTotalNoProgress,
    int maxTotalProgress,
    List<Integer> noProgressBackoffSeconds,
    int progressBackoffSeconds) {
  public RetryRules {
    noProgressBackoffSeconds = List.copyOf(noProgressBackoffSeconds);
  }
}
