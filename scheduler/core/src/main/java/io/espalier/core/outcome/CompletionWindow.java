package io.espalier.core.outcome;

import java.util.Arrays;

/**
 * How many tasks of a job ended lately, and how many of those failed: a ring of {@link #BUCKETS}
 * buckets, so that an end counts for as long as the window to within one of them. Costs the same
 * for each end, however many there are. Not thread-safe.
 */
public final class CompletionWindow {
  /** In a window. */
  public static final int BUCKETS = 64;

  private final long width;
  private final int[] ended = new int[BUCKETS];
  private final int[] failed = new int[BUCKETS];
  private long newest = Long.MIN_VALUE / 2;
  private long endedInAll;
  private long failedInAll;

  /**
   * @param windowMillis at least 1
   */
  public CompletionWindow(long windowMillis) {
    width = Math.max(1, -Math.floorDiv(-windowMillis, (long) BUCKETS));
  }

  /** How long a bucket is; an end counts for 63 to 64 of them. */
  public long bucketMillis() {
    return width;
  }

  /** A task has ended; of times before the window nothing is noted. */
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

  /** Lets go of what is over. */
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

  /** Begins anew. */
  public void clear() {
    Arrays.fill(ended, 0);
    Arrays.fill(failed, 0);
    endedInAll = 0;
    failedInAll = 0;
  }

  /** As of the latest time given. */
  public long ended() {
    return endedInAll;
  }

  /** As of the latest time given. */
  public long failed() {
    return failedInAll;
  }
}
