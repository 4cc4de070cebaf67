package io.espalier.core.forecast;

import java.util.Arrays;

/**
 * A queue of future completions, earliest first: a heap of two primitive arrays, since there are up
 * to a million of them. Not thread-safe.
 */
public final class EndQueue {
  private long[] times;
  private long[] runs;
  private int size;

  public EndQueue(int capacity) {
    times = new long[Math.max(16, capacity)];
    runs = new long[times.length];
  }

  /** Returns the earliest time, or {@link Long#MAX_VALUE} when the queue is empty. */
  public long nextTime() {
    return size == 0 ? Long.MAX_VALUE : times[0];
  }

  public void add(long time, long run) {
    if (size == times.length) {
      times = Arrays.copyOf(times, size * 2);
      runs = Arrays.copyOf(runs, size * 2);
    }
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (times[parent] <= time) {
        break;
      }
      times[at] = times[parent];
      runs[at] = runs[parent];
      at = parent;
    }
    times[at] = time;
    runs[at] = run;
  }

  /**
   * Removes the earliest completion.
   *
   * @throws IllegalStateException when the queue is empty
   */
  public long remove() {
    if (size == 0) {
      throw new IllegalStateException("no end is to come");
    }
    long first = runs[0];
    size--;
    long time = times[size];
    long run = runs[size];
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && times[child + 1] < times[child]) {
        child++;
      }
      if (times[child] >= time) {
        break;
      }
      times[at] = times[child];
      runs[at] = runs[child];
      at = child;
    }
    times[at] = time;
    runs[at] = run;
    return first;
  }
}
