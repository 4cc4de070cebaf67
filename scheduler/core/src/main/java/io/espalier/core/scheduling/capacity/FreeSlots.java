package io.espalier.core.scheduling.capacity;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The free slots per place of a level. With small limits a place takes one byte, so that the many
 * leaves of a tree, which usually have a limit of one or two, stay in the cache. Larger numbers are
 * stored separately; they are rare unless {@link #widen} was called.
 */
final class FreeSlots {
  /** The largest limit that is stored in a byte. */
  private static final int LARGEST_NARROW = Byte.MAX_VALUE;

  private static final byte ASIDE = Byte.MIN_VALUE;

  private byte @Nullable [] narrow;
  private int[] wide = new int[0];
  private final Map<Integer, Integer> aside = new HashMap<>();

  /**
   * @param largest the largest limit, except for rare exceptions
   */
  FreeSlots(int places, int largest) {
    if (largest <= LARGEST_NARROW) {
      narrow = new byte[places];
    } else {
      wide = new int[places];
    }
  }

  int get(int place) {
    byte[] bytes = narrow;
    if (bytes == null) {
      return wide[place];
    }
    byte free = bytes[place];
    return free != ASIDE ? free : aside(place);
  }

  private int aside(int place) {
    Integer free = aside.get(place);
    if (free == null) {
      throw new IllegalStateException("no free slots are known of a place");
    }
    return free;
  }

  void put(int place, int free) {
    byte[] bytes = narrow;
    if (bytes == null) {
      wide[place] = free;
      return;
    }
    if (bytes[place] == ASIDE) {
      aside.remove(place);
    }
    if (free > ASIDE && free <= Byte.MAX_VALUE) {
      bytes[place] = (byte) free;
    } else {
      bytes[place] = ASIDE;
      aside.put(place, free);
    }
  }

  /** Prepares for many places to get this limit. */
  void widen(int limit) {
    byte[] bytes = narrow;
    if (bytes == null || limit <= LARGEST_NARROW) {
      return;
    }
    int[] all = new int[bytes.length];
    Arrays.setAll(all, this::get);
    wide = all;
    narrow = null;
    aside.clear();
  }

  long byteSize() {
    return narrow == null ? 4L * wide.length : narrow.length;
  }
}
