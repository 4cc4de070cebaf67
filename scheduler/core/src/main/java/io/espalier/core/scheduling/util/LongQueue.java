package io.espalier.core.scheduling.util;

import java.util.ArrayDeque;

/** A growing queue of longs in blocks: adding never copies what is there. */
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

  /** The oldest one; there must be one. */
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
