package io.espalier.core.topology;

import java.util.Arrays;

/** A growing list of ints. */
final class IntList {
  private int[] items = new int[16];
  private int size;

  void add(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, Math.addExact(size, size));
    }
    items[size++] = item;
  }

  int get(int index) {
    return items[index];
  }

  int size() {
    return size;
  }
}
