package io.espalier.core.scheduling.queue;

import io.espalier.core.config.QueueSpec;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The cap of a queue on one resource, and the jobs of the queue that fit under it. As in {@link
 * NodeCapacity}, they are looked up by the number of distinct needs met rather than compared one by
 * one.
 */
public final class QueueLimit {
  public final int resource;
  private final QueueSpec spec;

  /** The distinct needs of the queue's jobs, ascending, without 0. */
  private final int[] thresholds;

  /** By number of thresholds met: the jobs that fit, one long for each word of the queue. */
  private final long[][] fits;

  private long cap;
  private long held;
  private int met;

  /** Like {@link #met}, after subtracting the reservation for the holder. */
  private int metBeside;

  /** The slots reserved for one job; its word and bit follow. */
  private int kept;

  private int holderPlace = -1;
  private long holderBit;

  /**
   * @param jobs the jobs of the queue, ascending
   * @param needs the needs, by position in {@code jobs}
   * @param words the bitmap words that contain its jobs, ascending
   */
  private QueueLimit(QueueSpec spec, int resource, int[] jobs, int[] needs, int[] words) {
    this.spec = spec;
    this.resource = resource;
    thresholds = Arrays.stream(needs).filter(n -> n > 0).sorted().distinct().toArray();
    fits = new long[thresholds.length + 1][words.length];
    for (int i = 0; i < jobs.length; i++) {
      int word = Arrays.binarySearch(words, jobs[i] >>> 6);
      int from = needs[i] <= 0 ? 0 : Arrays.binarySearch(thresholds, needs[i]) + 1;
      for (int m = from; m < fits.length; m++) {
        fits[m][word] |= 1L << jobs[i];
      }
    }
  }

  /** Returns the cap of a queue on a resource; null: unlimited. */
  static @Nullable QueueLimit of(
      QueueSpec spec, int resource, int[] jobs, int[] needs, int[] words) {
    return spec.limits(resource) ? new QueueLimit(spec, resource, jobs, needs, words) : null;
  }

  /** Returns whether the cap depends on the total slots. */
  public boolean isRelative() {
    return spec.maxFraction().containsKey(resource);
  }

  /** Sets the total slots of the tree; {@link #hold} must follow. */
  void setTotal(long total) {
    cap = spec.slots(resource, total);
  }

  /** Sets the slots in use by the queue; returns whether the set of jobs that fit has changed. */
  boolean hold(long nowHeld) {
    held = nowHeld;
    int before = met;
    int besideBefore = metBeside;
    met = met(cap - held);
    metBeside = kept == 0 ? met : met(cap - held - kept);
    return met != before || metBeside != besideBefore;
  }

  /**
   * Reserves what a job needs; {@link #hold} must follow.
   *
   * @param need 0: no reservation
   * @param place the position of the job's word
   */
  void keep(int need, int place, long bit) {
    kept = need;
    holderPlace = place;
    holderBit = bit;
  }

  /**
   * Returns whether a job other than the holder with this need does not fit besides the
   * reservation.
   */
  public boolean keepsFrom(int need) {
    return need > 0 && kept > 0 && need > cap - held - kept;
  }

  /** Returns whether a job with this need does not fit under the cap. */
  public boolean blocks(int need) {
    return need > 0 && need > cap - held;
  }

  private int met(long room) {
    int n = thresholds.length;
    if (n == 0 || room >= thresholds[n - 1]) {
      return n;
    }
    if (room < thresholds[0]) {
      return 0;
    }
    int at = Arrays.binarySearch(thresholds, (int) room);
    return at >= 0 ? at + 1 : -at - 1;
  }

  /** Returns the bits of the jobs that fit, for a position in the queue's words. */
  long fits(int place) {
    long bits = fits[metBeside][place];
    return place == holderPlace ? bits | (fits[met][place] & holderBit) : bits;
  }

  /** Returns the maximum number of slots that the queue may use. */
  public long cap() {
    return cap;
  }
}
