package io.espalier.core.scheduling.util;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An open-addressing hash map from non-negative longs to objects. It consists of segments that grow
 * one by one, so no insertion pays for the size of the whole map (docs/design/design.md#slices).
 */
public final class LongMap<V> {
  private static final int SEGMENTS = 4096;
  private static final int SEGMENT_SHIFT = Long.SIZE - 12;
  private static final long EMPTY = -1;

  private final @Nullable Segment[] segments = new @Nullable Segment[SEGMENTS];
  private long size;

  /** Receives entries. */
  public interface Visitor<V> {
    void visit(long key, V value);
  }

  private static final class Segment {
    long[] keys;
    @Nullable Object[] values;
    int size;

    Segment(int capacity) {
      keys = new long[capacity];
      Arrays.fill(keys, EMPTY);
      values = new @Nullable Object[capacity];
    }
  }

  public long size() {
    return size;
  }

  public @Nullable V get(long key) {
    long hash = hash(key);
    Segment segment = segments[(int) (hash >>> SEGMENT_SHIFT)];
    if (segment == null) {
      return null;
    }
    return cast(segment.values[find(segment, key, hash)]);
  }

  public void put(long key, V value) {
    long hash = hash(key);
    int number = (int) (hash >>> SEGMENT_SHIFT);
    Segment segment = segments[number];
    if (segment == null) {
      segment = new Segment(4);
      segments[number] = segment;
    }
    int at = find(segment, key, hash);
    if (segment.keys[at] == EMPTY) {
      if (segment.size * 3 >= segment.keys.length * 2) {
        segment = grown(segment);
        segments[number] = segment;
        at = find(segment, key, hash);
      }
      segment.keys[at] = key;
      segment.size++;
      size++;
    }
    segment.values[at] = value;
  }

  public void remove(long key) {
    long hash = hash(key);
    Segment segment = segments[(int) (hash >>> SEGMENT_SHIFT)];
    if (segment == null) {
      return;
    }
    int at = find(segment, key, hash);
    if (segment.keys[at] == EMPTY) {
      return;
    }
    size--;
    segment.size--;
    int mask = segment.keys.length - 1;
    int hole = at;
    // Moves later entries of the chain back, so that removed entries need no tombstones.
    for (int i = (at + 1) & mask; segment.keys[i] != EMPTY; i = (i + 1) & mask) {
      int home = (int) hash(segment.keys[i]) & mask;
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        segment.keys[hole] = segment.keys[i];
        segment.values[hole] = segment.values[i];
        hole = i;
      }
    }
    segment.keys[hole] = EMPTY;
    segment.values[hole] = null;
  }

  /** Returns the number of parts for {@link #visit}. */
  public int parts() {
    return SEGMENTS;
  }

  /**
   * Visits one part of the entries, unordered.
   *
   * @return the number of entries in the part
   */
  public int visit(int part, Visitor<? super V> visitor) {
    Segment segment = segments[part];
    if (segment == null) {
      return 0;
    }
    for (int i = 0; i < segment.keys.length; i++) {
      V value = cast(segment.values[i]);
      if (value != null) {
        visitor.visit(segment.keys[i], value);
      }
    }
    return segment.size;
  }

  private static int find(Segment segment, long key, long hash) {
    int mask = segment.keys.length - 1;
    int i = (int) hash & mask;
    while (segment.keys[i] != EMPTY && segment.keys[i] != key) {
      i = (i + 1) & mask;
    }
    return i;
  }

  private static Segment grown(Segment old) {
    Segment segment = new Segment(old.keys.length * 2);
    segment.size = old.size;
    for (int i = 0; i < old.keys.length; i++) {
      if (old.keys[i] != EMPTY) {
        int at = find(segment, old.keys[i], hash(old.keys[i]));
        segment.keys[at] = old.keys[i];
        segment.values[at] = old.values[i];
      }
    }
    return segment;
  }

  private static long hash(long key) {
    long h = key * 0x9e3779b97f4a7c15L;
    return h ^ (h >>> 29);
  }

  @SuppressWarnings("unchecked") // only put writes values
  private @Nullable V cast(@Nullable Object value) {
    return (V) value;
  }
}
