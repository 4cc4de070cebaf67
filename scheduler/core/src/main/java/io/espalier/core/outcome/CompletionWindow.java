package io.espalier.core.outcome;

import java.util.Arrays;

/**
 * Counts the recently ended tasks of a job, and the failed ones among them, in a ring of {@link
 * #BUCKETS} buckets: an end counts for the length of the window, to within one bucket. Each end
 * costs the same, however many there are. Not thread-safe.
 */
public final class CompletionWindow {
  /** The number of buckets in a window. */
  public static final int BUCKETS = 64;

  private final long width;
  private final int[] ended = new int[BUCKETS];
  private final int[] failed = new int[BUCKETS];
  private long newest = Long.MIN_VALUE / 2;
  private long endedInAll;
  private long failedInAll;

  /**
   * @param windowMillis length of the window, at least 1
   */
  public CompletionWindow(long windowMillis) {
    width = Math.max(1, -Math.floorDiv(-windowMillis, (long) BUCKETS));
  }

  /** The length of a bucket; an end counts for 63 to 64 of them. */
  public long bucketMillis() {
    return width;
  }

  /** Counts an ended task, unless it ended before the window. */
  public void add(long timeMillis, boolean asFailed) {
    long bucket = Math.floorDiv(timeMillis, width);
    advance(bucket);
    if (bucket <= newest - BUCKETS) {
      return;
    }
    int at = Math.floorMod(bucket, BUCKETS);
    ended[at]++;
    endedInAll++;
    if (asFailed) {
      failed[at]++;
      failedInAll++;
    }
  }

  /** Advances the window and drops expired buckets. */
  public void moveTo(long nowMillis) {
    advance(Math.floorDiv(nowMillis, width));
  }

  private void advance(long bucket) {
    if (bucket <= newest) {
      return;
    }
    if (bucket - newest >= BUCKETS) {
      clear();
    } else {
      for (long b = newest + 1; b <= bucket; b++) {
        int at = Math.floorMod(b, BUCKETS);
        endedInAll -= ended[at];
        failedInAll -= failed[at];
        ended[at] = 0;
        failed[at] = 0;
      }
    }
    newest = bucket;
  }

  /** Resets all counts. */
  public void clear() {
    Arrays.fill(ended, 0);
    Arrays.fill(failed, 0);
    endedInAll = 0;
    failedInAll = 0;
  }

  /** The count as of the latest time given. */
  public long ended() {
    return endedInAll;
  }

  /** The count as of the latest time given. */
  public long failed() {
    return failedInAll;
  }
}
