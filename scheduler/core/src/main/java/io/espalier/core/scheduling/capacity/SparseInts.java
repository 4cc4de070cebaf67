package io.espalier.core.scheduling.capacity;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An int per node of a level, 0 for most. Blocks of nodes exist from the first other value on, so
 * that no single call takes time proportional to the level.
 */
final class SparseInts {
  private static final int BITS = 10;

  private int[] @Nullable [] blocks = new int[0][];

  private SparseInts() {}

  /**
   * Sets a value.
   *
   * @param values null: all are 0
   * @return the values, null only when all are still 0
   */
  static @Nullable SparseInts put(@Nullable SparseInts values, int at, int value) {
    if (values == null && value == 0) {
      return null;
    }
    SparseInts changed = values == null ? new SparseInts() : values;
    changed.put(at, value);
    return changed;
  }

  int get(int at) {
    int block = at >>> BITS;
    int[] values = block < blocks.length ? blocks[block] : null;
    return values == null ? 0 : values[at & (1 << BITS) - 1];
  }

  private void put(int at, int value) {
    int block = at >>> BITS;
    if (block >= blocks.length) {
      blocks = Arrays.copyOf(blocks, Math.max(block + 1, 2 * blocks.length));
    }
    int[] values = blocks[block];
    if (values == null) {
      values = new int[1 << BITS];
      blocks[block] = values;
    }
    values[at & (1 << BITS) - 1] = value;
  }
}
