package io.espalier.core.scheduling.util;

/**
 * A matrix with one bit per place and job, where a place is an edge, a node or a block of them. The
 * bits of a place are adjacent; they form a lane, whose width is the number of jobs rounded up to a
 * power of two. A word contains the lanes of several places; beyond 64 jobs, a place has several
 * words.
 *
 * <p>So one operation covers 64 jobs of a place, or one job on all places that share the word (64
 * places when there is one job). The matrix also stays small, which matters because cache misses
 * dominate the cost of an event in a large tree.
 *
 * <p>Methods take and return sets of jobs in words of 64 jobs, as elsewhere in the core.
 */
public final class JobBitMatrix {
  /** The number of words per place. */
  private final int words;

  /** The width of a lane in bits, as a power of two. */
  private final int widthShift;

  /** The number of places per word, as a power of two. */
  private final int placeShift;

  private final int placeMask;

  /** The bits of the first lane. */
  private final long lane;

  /** The first bit of every lane. */
  private final long firsts;

  private final long[] bits;

  /** The number of words read so far. */
  private long work;

  /**
   * @param size the number of places
   */
  public JobBitMatrix(int size, int jobs) {
    words = Math.max(1, (jobs + 63) >>> 6);
    widthShift = widthShift(jobs);
    placeShift = 6 - widthShift;
    placeMask = (1 << placeShift) - 1;
    lane = -1L >>> -(1 << widthShift);
    long each = 0;
    for (int at = 0; at < Long.SIZE; at += 1 << widthShift) {
      each |= 1L << at;
    }
    firsts = each;
    int shared = (size >>> placeShift) + ((size & placeMask) == 0 ? 0 : 1);
    bits = new long[Math.multiplyExact(shared, words)];
  }

  private static int widthShift(int jobs) {
    return jobs <= 1 ? 0 : Math.min(6, Integer.SIZE - Integer.numberOfLeadingZeros(jobs - 1));
  }

  /** Returns the number of places per word for a number of jobs. */
  public static int placesPerWord(int jobs) {
    return Long.SIZE >>> widthShift(jobs);
  }

  public long work() {
    return work;
  }

  public long byteSize() {
    return 8L * bits.length;
  }

  private int at(int place, int word) {
    return words == 1 ? place >>> placeShift : place * words + word;
  }

  private int shift(int place) {
    return (place & placeMask) << widthShift;
  }

  // ---- one place

  public boolean has(int place, int job) {
    return (get(place, job >>> 6) & 1L << job) != 0;
  }

  /** Returns the first word with bits of a place, whatever else is in it. */
  public long near(int place) {
    return bits[at(place, 0)];
  }

  public long get(int place, int word) {
    return bits[at(place, word)] >>> shift(place) & lane;
  }

  public void put(int place, int word, long value) {
    int at = at(place, word);
    int shift = shift(place);
    bits[at] = (bits[at] & ~(lane << shift)) | (value << shift);
  }

  // ---- a row of places

  /**
   * Returns those of the wanted jobs whose bit is set anywhere in a row; stops early when it has
   * found all of them.
   */
  public long anyOf(int from, int to, int word, long wanted) {
    if (words > 1) {
      return anyOfWords(from, to, word, wanted);
    }
    if (from >= to) {
      return 0;
    }
    int last = (to - 1) >>> placeShift;
    long mask = -1L << shift(from);
    long found = 0;
    for (int at = from >>> placeShift; at <= last; at++) {
      if (at == last) {
        mask &= -1L >>> -(shift(to - 1) + (1 << widthShift));
      }
      found |= folded(bits[at] & mask) & wanted;
      work++;
      if (found == wanted) {
        break;
      }
      mask = -1L;
    }
    return found;
  }

  private long anyOfWords(int from, int to, int word, long wanted) {
    long found = 0;
    for (int place = from; place < to && found != wanted; place++) {
      found |= bits[place * words + word] & wanted;
      work++;
    }
    return found;
  }

  /** Returns the OR of all lanes of a word. */
  private long folded(long value) {
    long all = value;
    for (int by = Long.SIZE / 2; by >= 1 << widthShift; by >>= 1) {
      all |= all >>> by;
    }
    return all & lane;
  }

  /** Returns the first place in a row where a job's bit is set, or -1. */
  public int next(int from, int to, int job) {
    if (words > 1) {
      return nextWord(from, to, job);
    }
    if (from >= to) {
      return -1;
    }
    long wanted = firsts << job & -1L << shift(from);
    int last = (to - 1) >>> placeShift;
    for (int at = from >>> placeShift; at <= last; at++) {
      long found = bits[at] & wanted;
      work++;
      if (found != 0) {
        int place = (at << placeShift) + (Long.numberOfTrailingZeros(found) >>> widthShift);
        return place < to ? place : -1;
      }
      wanted = firsts << job;
    }
    return -1;
  }

  private int nextWord(int from, int to, int job) {
    for (int place = from; place < to; place++) {
      work++;
      if ((bits[place * words + (job >>> 6)] & 1L << job) != 0) {
        return place;
      }
    }
    return -1;
  }
}
