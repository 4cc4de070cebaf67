package io.espalier.server.nodes;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A growing set of 64-bit hashes of nodes: eight bytes each, compared after sorting. */
final class LongHashSet {
  private long[] values = new long[64];
  private int size;
  private boolean sorted = true;

  static long of(int level, @Nullable String name) {
    long hash = 0xcbf29ce484222325L + level;
    if (name != null) {
      for (int i = 0; i < name.length(); i++) {
        hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
      }
    }
    return mixed(hash);
  }

  static long of(long node, long parent) {
    return mixed(node * 31 + parent);
  }

  private static long mixed(long value) {
    long x = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
    x = (x ^ (x >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return x ^ (x >>> 33);
  }

  void add(long hash) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size * 2);
    }
    values[size++] = hash;
    sorted = false;
  }

  void addAll(LongHashSet others) {
    for (int i = 0; i < others.size; i++) {
      add(others.values[i]);
    }
  }

  boolean contains(long hash) {
    sort();
    return Arrays.binarySearch(values, 0, size, hash) >= 0;
  }

  /** Returns the hashes that were added more than once. Must be called before any other query. */
  LongHashSet repeated() {
    LongHashSet repeated = new LongHashSet();
    if (!sorted) {
      Arrays.sort(values, 0, size);
      for (int i = 1; i < size; i++) {
        if (values[i] == values[i - 1]) {
          repeated.add(values[i]);
        }
      }
    }
    return repeated;
  }

  private void sort() {
    if (sorted) {
      return;
    }
    Arrays.sort(values, 0, size);
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (i == 0 || values[i] != values[i - 1]) {
        values[kept++] = values[i];
      }
    }
    size = kept;
    values = Arrays.copyOf(values, Math.max(1, size));
    sorted = true;
  }

  /** Adds a hash unless it equals the last one, so that runs of equal hashes take no space. */
  void addUnlessLast(long hash) {
    if (sorted || size == 0 || values[size - 1] != hash) {
      add(hash);
    }
  }

  boolean meets(LongHashSet other) {
    LongHashSet common = new LongHashSet();
    common(other, common);
    return !common.isEmpty();
  }

  /** Adds the hashes in both sets to a third one. */
  void common(LongHashSet other, LongHashSet into) {
    sort();
    other.sort();
    int at = 0;
    for (int i = 0; i < size && at < other.size; i++) {
      while (at < other.size && other.values[at] < values[i]) {
        at++;
      }
      if (at < other.size && other.values[at] == values[i]) {
        into.add(values[i]);
      }
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the set sorted and without spare capacity. */
  LongHashSet packed() {
    sort();
    return this;
  }

  /** Returns true when both sets contain the same hashes. */
  boolean same(LongHashSet other) {
    sort();
    other.sort();
    return Arrays.equals(values, 0, size, other.values, 0, other.size);
  }
}
