package io.espalier.core.scheduling.util;

import java.util.ArrayDeque;

/** A queue of longs in blocks. It grows without copying its contents. */
public final class LongQueue {
  private static final int BLOCK = 1024;

  private final ArrayDeque<long[]> blocks = new ArrayDeque<>();
  private int head;
  private int tail = BLOCK;

  public void add(long value) {
    if (tail == BLOCK) {
      blocks.addLast(new long[BLOCK]);
      tail = 0;
    }
    blocks.getLast()[tail++] = value;
  }

  public boolean isEmpty() {
    return blocks.isEmpty() || (blocks.size() == 1 && head == tail);
  }

  /** Removes and returns the oldest element; the queue must not be empty. */
  public long poll() {
    long value = blocks.getFirst()[head++];
    if (head == BLOCK) {
      blocks.removeFirst();
      head = 0;
    }
    if (blocks.isEmpty()) {
      tail = BLOCK;
    }
    return value;
  }
}
