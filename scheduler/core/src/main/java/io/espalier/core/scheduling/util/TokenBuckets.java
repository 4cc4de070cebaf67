package io.espalier.core.scheduling.util;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Numbered token buckets, one long each. Only empty buckets have a timer; other buckets cost
 * nothing. A bucket counts as empty from the start that took its last token until the tick at which
 * its timer finds a new token.
 */
public final class TokenBuckets {
  private static final int FIRST_CAPACITY = 16;

  /** The fill rates of the buckets. */
  public interface Laws {
    /** Null: no limit. */
    @Nullable TokenBucketMath of(int bucket);
  }

  private final Laws laws;
  private final long[] spent;
  private final long[] empty;
  private int emptyCount;

  /**
   * A heap of timers ordered by instant. An entry may be too early after its bucket was rewritten;
   * it is corrected when it comes up. Every empty bucket has an entry.
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

  /** Returns the bits of the empty buckets. */
  public long empty(int word) {
    return empty[word];
  }

  public int emptyCount() {
    return emptyCount;
  }

  public long spent(int bucket) {
    return spent[bucket];
  }

  /** Returns when an empty bucket gains a token. */
  public long due(int bucket) {
    TokenBucketMath law = laws.of(bucket);
    return law == null ? Long.MIN_VALUE : law.due(spent[bucket]);
  }

  /**
   * Takes a token for a start.
   *
   * @return whether it was the last token
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
   * Writes the state of a bucket.
   *
   * @return whether the bucket has become empty or stopped being empty
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

  /** Returns whether a timer is due. */
  public boolean isDue(long tick) {
    return size > 0 && dues[0] <= tick;
  }

  /**
   * Handles the first timer, which must be due.
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

  /** Returns when the next timer is due; {@link Long#MAX_VALUE}: never. */
  public long next() {
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  public long byteSize() {
    return 8L * (spent.length + empty.length) + 12L * dues.length;
  }

  /** Returns whether every empty bucket has a timer that is early enough. */
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
