package io.espalier.policies;

import java.util.function.IntToDoubleFunction;

/**
 * A heap of jobs by a key, smallest first, with ties in the order given. Building it takes one
 * evaluation per job, and removing a job takes logarithmic time: a slice of a round starts tasks of
 * few jobs, so sorting all of them would be wasted.
 */
final class JobHeap {
  private final int[] jobs;
  private final double[] keys;

  /** Indices into {@link #jobs}, as a heap. */
  private final int[] heap;

  private int size;

  /**
   * @param jobs array that the heap keeps a reference to
   * @param key key of a job; compared as by {@link Double#compare}
   */
  JobHeap(int[] jobs, IntToDoubleFunction key) {
    this.jobs = jobs;
    size = jobs.length;
    keys = new double[size];
    heap = new int[size];
    for (int i = 0; i < size; i++) {
      keys[i] = key.applyAsDouble(jobs[i]);
      heap[i] = i;
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      sink(i, heap[i]);
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Removes and returns the first job; the heap must not be empty. */
  int poll() {
    int first = jobs[heap[0]];
    size--;
    if (size > 0) {
      sink(0, heap[size]);
    }
    return first;
  }

  private boolean isBefore(int a, int b) {
    int order = Double.compare(keys[a], keys[b]);
    return order != 0 ? order < 0 : a < b;
  }

  private void sink(int from, int item) {
    int at = from;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
        child++;
      }
      if (isBefore(item, heap[child])) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = item;
  }
}
