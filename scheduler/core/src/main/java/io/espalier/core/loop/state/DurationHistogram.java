package io.espalier.core.loop.state;

import java.util.ArrayList;
import java.util.List;

/**
 * A histogram of the durations of one job's tasks, in buckets an eighth of an octave wide. The
 * counts are halved whenever they become large, so that new durations weigh most. It estimates how
 * long a running task will take, and says how long tasks have waited.
 */
public final class DurationHistogram {
  /** Buckets from 0 to the largest long: 8 exact ones, then 8 for each power of two. */
  private static final int BUCKETS = 488;

  /** This many attempts have the same weight as all before them. */
  static final int MEMORY = 2_048;

  private final int[] counts = new int[BUCKETS];
  private int total;

  void add(long millis) {
    addForEver(millis);
    if (total >= 2 * MEMORY) {
      total = 0;
      for (int i = 0; i < BUCKETS; i++) {
        counts[i] >>>= 1;
        total += counts[i];
      }
    }
  }

  /** Returns the number of durations; old ones count less. */
  public int total() {
    return total;
  }

  /** Adds a duration whose weight stays, so that all of them count alike. */
  public void addForEver(long millis) {
    counts[bucket(Math.max(0, millis))]++;
    total++;
  }

  /**
   * Estimates the duration of a task that is already running: the median of the tasks that took at
   * least as long.
   *
   * @return milliseconds from the start of the task; -1 when none took longer or none is known
   */
  long expected(long elapsedMillis) {
    int from = bucket(Math.max(0, elapsedMillis));
    int longer = 0;
    for (int i = from; i < BUCKETS; i++) {
      longer += counts[i];
    }
    if (longer == 0) {
      return -1;
    }
    int left = (longer + 1) / 2;
    int at = from;
    while (left > counts[at]) {
      left -= counts[at++];
    }
    return middle(at);
  }

  /**
   * Returns the duration that this part of all have not exceeded, in milliseconds; -1: none known.
   */
  public long quantile(double part) {
    int bucket = bucketOf(part);
    return bucket < 0 ? -1 : middle(bucket);
  }

  /**
   * Returns a duration that this part of all have certainly not exceeded, also of those that were
   * stopped (as in {@link #durations}). Where so few have ended that this is not known, it is what
   * the longest has certainly taken; -1: none known.
   *
   * @param stopped how long those had run that were stopped
   */
  long bound(double part, DurationHistogram stopped) {
    double longer = 1;
    int atRisk = total + stopped.total;
    int last = -1;
    for (int i = 0; i < BUCKETS && atRisk > 0; i++) {
      int all = counts[i] + stopped.counts[i];
      longer *= 1 - (double) counts[i] / atRisk;
      // The product is not exact.
      if (counts[i] > 0 && longer <= 1 - part + 1e-9) {
        return i < 8 ? i : first(i) + width(i) - 1;
      }
      last = all > 0 ? i : last;
      atRisk -= all;
    }
    return last < 8 ? last : first(last);
  }

  private int bucketOf(double part) {
    int left = (int) Math.ceil(total * part);
    for (int i = 0; i < BUCKETS && total > 0; i++) {
      left -= counts[i];
      if (left <= 0) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the buckets that are not empty, for {@link #parse}. */
  String text() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < BUCKETS; i++) {
      if (counts[i] > 0) {
        text.append(text.length() == 0 ? "" : " ").append(i).append(' ').append(counts[i]);
      }
    }
    return text.toString();
  }

  /**
   * Reads the result of {@link #text}.
   *
   * @throws IllegalArgumentException if it is anything else
   */
  static DurationHistogram parse(String text) {
    DurationHistogram read = new DurationHistogram();
    String[] numbers = text.isEmpty() ? new String[0] : text.split(" ", -1);
    try {
      for (int i = 0; i < numbers.length; i += 2) {
        int count = Integer.parseInt(numbers[i + 1]);
        read.counts[Integer.parseInt(numbers[i])] = count;
        read.total = Math.addExact(read.total, count);
        if (count <= 0 || read.total > 2 * MEMORY) {
          throw new IllegalArgumentException("no count: " + count);
        }
      }
    } catch (IndexOutOfBoundsException | ArithmeticException e) {
      throw new IllegalArgumentException("no histogram", e);
    }
    return read;
  }

  boolean isEmpty() {
    return total == 0;
  }

  /**
   * Returns durations of equal weight that stand for those of all tasks, also of those that still
   * run: early on, mostly short tasks have ended (the estimator of Kaplan and Meier).
   *
   * @param running how long the running tasks have run
   */
  List<Long> durations(int count, DurationHistogram running) {
    List<Long> durations = new ArrayList<>();
    double longer = 1;
    int atRisk = total + running.total;
    int last = 0;
    for (int i = 0; i < BUCKETS && atRisk > 0; i++) {
      if (counts[i] > 0) {
        longer *= 1 - (double) counts[i] / atRisk;
        while (durations.size() < count && (durations.size() + 0.5) / count <= 1 - longer) {
          durations.add(middle(i));
        }
      }
      last = counts[i] + running.counts[i] > 0 ? i : last;
      atRisk -= counts[i] + running.counts[i];
    }
    // The rest runs longer than any that has ended: as long again as it has run.
    while (durations.size() < count) {
      durations.add(2 * middle(last));
    }
    return durations;
  }

  static int bucket(long millis) {
    if (millis < 8) {
      return (int) millis;
    }
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(millis);
    return (exponent - 2) * 8 + (int) ((millis >>> (exponent - 3)) & 7);
  }

  private static long middle(int bucket) {
    if (bucket < 8) {
      return bucket;
    }
    return first(bucket) + width(bucket) / 2;
  }

  private static long first(int bucket) {
    return (8 + bucket % 8) * width(bucket);
  }

  private static long width(int bucket) {
    return 1L << (bucket / 8 - 1);
  }
}
