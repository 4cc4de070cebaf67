package io.espalier.core.scheduling.util;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Token buckets by number, each one long. Only empty ones hold a timer; full ones cost nothing. A
 * bucket counts as empty from the start that took its last token until the tick at which timers
 * find a new one.
 */
public final class TokenBuckets {
  private static final int FIRST_CAPACITY = 16;

  /** How buckets fill. */
  public interface Laws {
    /** Null: no limit. */
    @Nullable TokenBucketMath of(int bucket);
  }

  private final Laws laws;
  private final long[] spent;
  private final long[] empty;
  private int emptyCount;

  /**
   * A heap by instant. An entry may be too early, where a bucket was written anew; it is put right
   * when it comes up. No bucket that is empty is without one.
   */
  private long[] dues = new long[FIRST_CAPACITY];

  private int[] numbers = new int[FIRST_CAPACITY];
  private int size;

  public TokenBuckets(int count, Laws laws) {
    this.laws = laws;
    spent = new long[count];
    empty = new long[(count + 63) >>> 6];
  }

  public boolean isEmpty(int bucket) {
    return (empty[bucket >>> 6] & 1L << bucket) != 0;
  }

  /** Bits of the empty ones. */
  public long empty(int word) {
    return empty[word];
  }

  public int emptyCount() {
    return emptyCount;
  }

  public long spent(int bucket) {
    return spent[bucket];
  }

  /** When an empty one has a token. */
  public long due(int bucket) {
    TokenBucketMath law = laws.of(bucket);
    return law == null ? Long.MIN_VALUE : law.due(spent[bucket]);
  }

  /**
   * Takes a token for a start.
   *
   * @return whether that was the last one
   */
  public boolean charge(int bucket, long now) {
    TokenBucketMath law = laws.of(bucket);
    if (law == null) {
      return false;
    }
    spent[bucket] = law.charge(spent[bucket], now);
    if (isEmpty(bucket) || !law.isEmpty(spent[bucket], now)) {
      return false;
    }
    set(bucket, true);
    push(law.due(spent[bucket]), bucket);
    return true;
  }

  /**
   * Writes a bucket.
   *
   * @return whether it is empty now and was not, or the other way round
   */
  public boolean put(int bucket, long newSpent, boolean isEmpty) {
    boolean was = isEmpty(bucket);
    spent[bucket] = newSpent;
    TokenBucketMath law = laws.of(bucket);
    boolean on = isEmpty && law != null;
    if (law != null && on) {
      push(law.due(newSpent), bucket);
    }
    set(bucket, on);
    return was != on;
  }

  private void set(int bucket, boolean on) {
    if (isEmpty(bucket) != on) {
      empty[bucket >>> 6] ^= 1L << bucket;
      emptyCount += on ? 1 : -1;
    }
  }

  /** Whether some timer is due. */
  public boolean isDue(long tick) {
    return size > 0 && dues[0] <= tick;
  }

  /**
   * Looks at the first timer, which must be due.
   *
   * @return a bucket that has a token now, or -1
   */
  public int poll(long tick) {
    int bucket = numbers[0];
    size--;
    sink(dues[size], numbers[size]);
    if (!isEmpty(bucket)) {
      return -1;
    }
    long due = due(bucket);
    if (due > tick) {
      push(due, bucket);
      return -1;
    }
    set(bucket, false);
    return bucket;
  }

  /** When to look again; {@link Long#MAX_VALUE}: never. */
  public long next() {
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  public long byteSize() {
    return 8L * (spent.length + empty.length) + 12L * dues.length;
  }

  /** Whether all empty buckets have a timer that is early enough. */
  public boolean isSound() {
    long[] early = new long[empty.length];
    for (int i = 0; i < size; i++) {
      if (dues[i] <= due(numbers[i])) {
        early[numbers[i] >>> 6] |= 1L << numbers[i];
      }
    }
    int count = 0;
    for (int w = 0; w < empty.length; w++) {
      if ((empty[w] & ~early[w]) != 0) {
        return false;
      }
      count += Long.bitCount(empty[w]);
    }
    return count == emptyCount;
  }

  private void push(long due, int bucket) {
    if (size == dues.length) {
      dues = Arrays.copyOf(dues, size * 2);
      numbers = Arrays.copyOf(numbers, size * 2);
    }
    int i = size++;
    while (i > 0 && dues[(i - 1) >>> 1] > due) {
      int parent = (i - 1) >>> 1;
      dues[i] = dues[parent];
      numbers[i] = numbers[parent];
      i = parent;
    }
    dues[i] = due;
    numbers[i] = bucket;
  }

  private void sink(long due, int bucket) {
    int i = 0;
    while (2 * i + 1 < size) {
      int child = 2 * i + 1;
      if (child + 1 < size && dues[child + 1] < dues[child]) {
        child++;
      }
      if (dues[child] >= due) {
        break;
      }
      dues[i] = dues[child];
      numbers[i] = numbers[child];
      i = child;
    }
    dues[i] = due;
    numbers[i] = bucket;
  }
}
