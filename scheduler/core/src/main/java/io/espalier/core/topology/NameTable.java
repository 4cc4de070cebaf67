package io.espalier.core.topology;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Maps numbered nodes to their names in UTF-8, and names back to numbers. Each chunk contains the
 * names of 65,536 nodes, so that end offsets fit an int whatever the total size.
 */
final class NameTable {
  private static final int CHUNK_BITS = 16;
  private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;

  /** Slots of the hash table per 8 names: two thirds full, which suits linear probing. */
  private static final int HASH_SLOTS_PER_8 = 12;

  private final byte[][] chunks;

  /** The end of each name in its chunk; it begins where the previous one ends. */
  private final int[] ends;

  /** Open addressing: node number + 1, or 0. Keys are (level, name). */
  private final int[] hash;

  private final int[] levelStarts;

  /**
   * Copies the names of all nodes and builds the hash table.
   *
   * @param source pool of the names
   * @param positions positions in {@code source}, by node number
   */
  NameTable(NamePool source, long[] positions, int[] levelStarts) {
    int size = positions.length;
    this.levelStarts = levelStarts;
    this.ends = new int[size];
    this.chunks = new byte[(size + CHUNK_MASK) >>> CHUNK_BITS][];
    for (int chunk = 0; chunk < chunks.length; chunk++) {
      int from = chunk << CHUNK_BITS;
      int to = Math.min(size, from + CHUNK_MASK + 1);
      int length = 0;
      for (int node = from; node < to; node++) {
        length += source.length(positions[node]);
        ends[node] = length;
      }
      byte[] bytes = new byte[length];
      for (int node = from; node < to; node++) {
        source.copy(positions[node], bytes, start(node));
      }
      chunks[chunk] = bytes;
    }
    this.hash = new int[Math.toIntExact((long) size * HASH_SLOTS_PER_8 / 8 + 2)];
    int level = 0;
    for (int node = 0; node < size; node++) {
      while (node >= levelStarts[level + 1]) {
        level++;
      }
      byte[] bytes = chunks[node >>> CHUNK_BITS];
      int i = home(hashOf(level, bytes, start(node), ends[node]), hash.length);
      while (hash[i] != 0) {
        i = i + 1 == hash.length ? 0 : i + 1;
      }
      hash[i] = node + 1;
    }
  }

  int size() {
    return ends.length;
  }

  String name(int node) {
    int start = start(node);
    return new String(
        chunks[node >>> CHUNK_BITS], start, ends[node] - start, StandardCharsets.UTF_8);
  }

  /** The node with that name on a level, or -1. */
  int find(int level, String name) {
    byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
    int i = home(hashOf(level, wanted, 0, wanted.length), hash.length);
    while (hash[i] != 0) {
      int node = hash[i] - 1;
      if (node >= levelStarts[level]
          && node < levelStarts[level + 1]
          && Arrays.equals(
              chunks[node >>> CHUNK_BITS], start(node), ends[node], wanted, 0, wanted.length)) {
        return node;
      }
      i = i + 1 == hash.length ? 0 : i + 1;
    }
    return -1;
  }

  /** Total length of all names, in bytes. */
  long nameBytes() {
    long total = 0;
    for (byte[] chunk : chunks) {
      total += chunk.length;
    }
    return total;
  }

  /** Memory used in addition to the names themselves. */
  long overheadBytes() {
    long total = ArraySizes.ofInts(ends) + ArraySizes.ofInts(hash);
    total += ArraySizes.HEADER + (long) ArraySizes.REFERENCE * chunks.length;
    return total + (long) ArraySizes.HEADER * chunks.length;
  }

  boolean sameNames(NameTable other) {
    return Arrays.equals(ends, other.ends) && Arrays.deepEquals(chunks, other.chunks);
  }

  int namesHash() {
    return Arrays.deepHashCode(chunks);
  }

  private int start(int node) {
    return (node & CHUNK_MASK) == 0 ? 0 : ends[node - 1];
  }

  /**
   * FNV-1a with a final mix, so that the high bits, which {@link #home} uses, depend on all input.
   */
  static int hashOf(int level, byte[] bytes, int from, int to) {
    int h = 0x811c9dc5 ^ level;
    for (int i = from; i < to; i++) {
      h = (h ^ bytes[i]) * 0x01000193;
    }
    h ^= h >>> 16;
    h *= 0x85ebca6b;
    h ^= h >>> 13;
    h *= 0xc2b2ae35;
    return h ^ (h >>> 16);
  }

  /** Maps a hash to an index of a table of any length. */
  static int home(int hashValue, int length) {
    return (int) ((Integer.toUnsignedLong(hashValue) * length) >>> 32);
  }
}
