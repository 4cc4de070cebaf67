package io.espalier.core.scheduling.util;

import java.util.Arrays;

/**
 * The timers of back-offs: binary heaps ordered by tick. Entries become stale when their task is
 * forgiven or ends; a stale entry is dropped when it comes up, or when its heap is full and is
 * cleaned. Many small heaps replace a large one, so that growing and cleaning a heap takes little
 * time.
 */
public final class TimerHeap {
  private static final int HEAPS = 256;
  private static final int FIRST_CAPACITY = 8;
  private static final long[] NONE = {};

  private final Heap[] heaps = new Heap[HEAPS];
  private final Live live;

  /** No entry is earlier. */
  private long earliest = Long.MAX_VALUE;

  /** Whether {@link #earliest} is the tick of an entry, if there is one. */
  private boolean isExact = true;

  /** The number of heaps looked at so far. */
  private long work;

  /** Tells whether an entry is not stale. */
  public interface Live {
    boolean isLive(long task, long tick);
  }

  private static final class Heap {
    long[] ticks = NONE;
    long[] tasks = NONE;
    int size;
  }

  public TimerHeap(Live live) {
    this.live = live;
    Arrays.setAll(heaps, i -> new Heap());
  }

  public void add(long task, long tick) {
    Heap heap = heaps[(int) ((task * 0x9e3779b97f4a7c15L) >>> 56)];
    if (heap.size == heap.ticks.length) {
      makeRoom(heap);
    }
    earliest = Math.min(earliest, tick);
    int i = heap.size++;
    while (i > 0) {
      int parent = (i - 1) >>> 1;
      if (heap.ticks[parent] <= tick) {
        break;
      }
      heap.ticks[i] = heap.ticks[parent];
      heap.tasks[i] = heap.tasks[parent];
      i = parent;
    }
    heap.ticks[i] = tick;
    heap.tasks[i] = task;
  }

  private void makeRoom(Heap heap) {
    int kept = 0;
    for (int i = 0; i < heap.size; i++) {
      if (live.isLive(heap.tasks[i], heap.ticks[i])) {
        heap.ticks[kept] = heap.ticks[i];
        heap.tasks[kept++] = heap.tasks[i];
      }
    }
    isExact &= kept == heap.size;
    heap.size = kept;
    for (int i = kept / 2 - 1; i >= 0; i--) {
      sink(heap, i, heap.ticks[i], heap.tasks[i]);
    }
    if (kept >= heap.ticks.length / 2) {
      int capacity = Math.max(FIRST_CAPACITY, heap.ticks.length * 2);
      heap.ticks = Arrays.copyOf(heap.ticks, capacity);
      heap.tasks = Arrays.copyOf(heap.tasks, capacity);
    }
  }

  /**
   * Returns the earliest tick, possibly of a stale entry; {@link Long#MAX_VALUE} when there is no
   * entry.
   */
  public long nextTick() {
    if (!isExact) {
      long next = Long.MAX_VALUE;
      for (Heap heap : heaps) {
        work++;
        if (heap.size > 0 && heap.ticks[0] < next) {
          next = heap.ticks[0];
        }
      }
      earliest = next;
      isExact = true;
    }
    return earliest;
  }

  /**
   * Returns a task whose entry is the earliest that is not stale; -1 when there is none. Looks at
   * all heaps, and drops the stale entries that it meets.
   */
  public long nextTask() {
    long task = -1;
    long tick = Long.MAX_VALUE;
    for (Heap heap : heaps) {
      work++;
      while (heap.size > 0 && !live.isLive(heap.tasks[0], heap.ticks[0])) {
        removeFirst(heap);
      }
      if (heap.size > 0 && heap.ticks[0] < tick) {
        tick = heap.ticks[0];
        task = heap.tasks[0];
      }
    }
    return task;
  }

  /** Removes and returns one task that is due, possibly stale; -1 when none is due. */
  public long pollDue(long tick) {
    if (earliest > tick) {
      return -1;
    }
    for (Heap heap : heaps) {
      work++;
      if (heap.size > 0 && heap.ticks[0] <= tick) {
        long task = heap.tasks[0];
        removeFirst(heap);
        return task;
      }
    }
    isExact = false;
    nextTick();
    return -1;
  }

  private void removeFirst(Heap heap) {
    isExact = false;
    int last = --heap.size;
    sink(heap, 0, heap.ticks[last], heap.tasks[last]);
  }

  /** Returns how many times a heap was looked at to find the earliest entry. */
  long work() {
    return work;
  }

  private static void sink(Heap heap, int from, long tick, long task) {
    int i = from;
    while (true) {
      int child = 2 * i + 1;
      if (child >= heap.size) {
        break;
      }
      if (child + 1 < heap.size && heap.ticks[child + 1] < heap.ticks[child]) {
        child++;
      }
      if (heap.ticks[child] >= tick) {
        break;
      }
      heap.ticks[i] = heap.ticks[child];
      heap.tasks[i] = heap.tasks[child];
      i = child;
    }
    heap.ticks[i] = tick;
    heap.tasks[i] = task;
  }
}
