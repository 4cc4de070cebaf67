package io.espalier.core.topology;

/** Computes sizes of arrays on a 64-bit JVM with compressed references. */
final class ArraySizes {
  static final int HEADER = 16;
  static final int REFERENCE = 4;

  private ArraySizes() {}

  static long ofInts(int[] array) {
    return HEADER + 4L * array.length;
  }

  static long ofLongs(long[] array) {
    return HEADER + 8L * array.length;
  }
}
