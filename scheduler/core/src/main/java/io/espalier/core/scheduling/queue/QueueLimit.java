package io.espalier.core.scheduling.queue;

import io.espalier.core.config.QueueSpec;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many slots of one resource a queue may hold, and which of its jobs that leaves room for. As
 * in {@link NodeCapacity} they are looked up by how many distinct needs are met, not compared one
 * by one.
 */
public final class QueueLimit {
  public final int resource;
  private final int most;

  /** Of all slots; null: not said. */
  private final @Nullable BigDecimal fraction;

  /** The distinct needs of the queue's jobs, ascending, without 0. */
  private final int[] thresholds;

  /** For each number of thresholds met, the jobs that fit: one long for each word of the queue. */
  private final long[][] fits;

  private long cap;
  private long held;
  private int met;

  /** As {@link #met}, when what is kept for the holder is left out. */
  private int metBeside;

  /** Slots that are kept for one job, and its bit. */
  private int kept;

  private int holderPlace = -1;
  private long holderBit;

  /**
   * @param jobs of the queue, ascending
   * @param needs by place in {@code jobs}
   * @param words those that its jobs are in, ascending
   */
  private QueueLimit(
      int resource, int most, @Nullable BigDecimal fraction, int[] jobs, int[] needs, int[] words) {
    this.resource = resource;
    this.most = most;
    this.fraction = fraction;
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

  /** Null when the queue may hold all it wants of the resource. */
  static @Nullable QueueLimit of(
      QueueSpec spec, int resource, int[] jobs, int[] needs, int[] words) {
    Map<Integer, Integer> slots = spec.maxSlots();
    Double part = spec.maxFraction().get(resource);
    if (part == null && !slots.containsKey(resource)) {
      return null;
    }
    return new QueueLimit(
        resource,
        slots.getOrDefault(resource, Integer.MAX_VALUE),
        part == null ? null : BigDecimal.valueOf(part),
        jobs,
        needs,
        words);
  }

  /** Whether it goes by how many slots there are. */
  public boolean isRelative() {
    return fraction != null;
  }

  /** There are so many slots in the tree now; {@link #hold} must follow. */
  void setTotal(long total) {
    cap = slots(most, fraction, total);
  }

  private static long slots(int most, @Nullable BigDecimal fraction, long total) {
    if (fraction == null) {
      return most;
    }
    // 0.29 * 100 is 28.999999999999996 in binary.
    BigDecimal part = fraction.multiply(BigDecimal.valueOf(total));
    return Math.min(most, part.setScale(0, RoundingMode.FLOOR).longValueExact());
  }

  /** The queue holds so many slots now; returns whether other jobs fit than before. */
  boolean hold(long nowHeld) {
    held = nowHeld;
    int before = met;
    int besideBefore = metBeside;
    met = met(cap - held);
    metBeside = kept == 0 ? met : met(cap - held - kept);
    return met != before || metBeside != besideBefore;
  }

  /**
   * Others get only what a job does not need; {@link #hold} must follow.
   *
   * @param need 0: nothing is kept for anybody
   * @param place of the job's word
   */
  void keep(int need, int place, long bit) {
    kept = need;
    holderPlace = place;
    holderBit = bit;
  }

  /** Whether it leaves no room for another job than the holder that needs so much. */
  public boolean keepsFrom(int need) {
    return need > 0 && kept > 0 && need > cap - held - kept;
  }

  /** Whether it leaves no room for a job that needs so much. */
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

  /** Bits of the jobs that fit, in the queue's word of that place. */
  long fits(int place) {
    long bits = fits[metBeside][place];
    return place == holderPlace ? bits | (fits[met][place] & holderBit) : bits;
  }

  /** Slots that the queue may hold in all. */
  public long cap() {
    return cap;
  }
}
