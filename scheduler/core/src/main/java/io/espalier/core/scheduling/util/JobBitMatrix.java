package io.espalier.core.scheduling.util;

/**
 * A bit per place and job, where a place is a slot, a node or a block of them. The bits of a place
 * lie side by side, those of many places in one word: a lane is as wide as there are jobs, rounded
 * up to a power of two. Beyond 64 jobs a place has several words.
 *
 * <p>So one operation sees 64 jobs on a place, or a job on the places that share the word (all 64
 * of them when there is one job), and the whole stays small: in a large tree, cache misses are what
 * an event costs.
 *
 * <p>Sets of jobs are given and returned in words of 64 jobs, as everywhere.
 */
public final class JobBitMatrix {
  /** How many words a place has. */
  private final int words;

  /** Of a lane, in bits, as a power of two. */
  private final int widthShift;

  /** How many places share a word, as a power of two. */
  private final int placeShift;

  private final int placeMask;

  /** The bits of the first lane. */
  private final long lane;

  /** The first bit of every lane. */
  private final long firsts;

  private final long[] bits;

  /** How many words were looked at. */
  private long work;

  /**
   * @param size how many places
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

  /** How many places share a word when there are so many jobs. */
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
   * Those of some jobs that have their bit anywhere in a row; stops when it has met all of them.
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

  /** All lanes of a word, one upon the other. */
  private long folded(long value) {
    long all = value;
    for (int by = Long.SIZE / 2; by >= 1 << widthShift; by >>= 1) {
      all |= all >>> by;
    }
    return all & lane;
  }

  /** The first place of a row on which a job has its bit, or -1. */
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
