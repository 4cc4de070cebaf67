package io.espalier.core.config;

/**
 * The part of a configuration that one of several share-nothing schedulers works on: all subtrees
 * under the instance whose names hash to its number
 * (docs/design/design.md#schedulers-that-share-a-configuration).
 *
 * <p><b>Hash.</b> {@link #ownerOf} is part of the public contract and never changes:
 *
 * <ol>
 *   <li>64-bit FNV-1a (offset basis {@code 0xcbf29ce484222325}, prime {@code 0x100000001b3}) over
 *       the UTF-8 bytes of the name; an unpaired surrogate counts as {@code ?};
 *   <li>the finalizer of SplitMix64, as for the fraction of {@link FilterEvaluator};
 *   <li>the jump consistent hash of Lamping and Veach (2014) of that key into {@code count}
 *       buckets. An additional scheduler takes over about one subtree of {@code count + 1}; no
 *       subtree moves between the other schedulers.
 * </ol>
 *
 * @param index number of this scheduler, from 0
 * @param count number of schedulers; 1: this one works on everything
 */
public record Partition(int index, int count) {
  /** The maximum number of schedulers that can share a configuration. */
  public static final int MAX_COUNT = 65_536;

  /** The partition of a scheduler that works on everything. */
  public static final Partition WHOLE = new Partition(0, 1);

  /**
   * @throws IllegalArgumentException when the numbers are invalid
   */
  public Partition {
    if (count < 1 || count > MAX_COUNT) {
      throw new IllegalArgumentException(
          "there can be 1 to " + MAX_COUNT + " schedulers, not " + count);
    }
    if (index < 0 || index >= count) {
      throw new IllegalArgumentException(
          count == 1
              ? "the only scheduler has number 0, not " + index
              : count + " schedulers have the numbers 0 to " + (count - 1) + ", not " + index);
    }
  }

  /**
   * Parses {@code I/N}.
   *
   * @throws IllegalArgumentException explaining what is wrong with it
   */
  public static Partition parse(String text) {
    int slash = text.indexOf('/');
    String index = slash < 0 ? "" : text.substring(0, slash);
    String count = slash < 0 ? "" : text.substring(slash + 1);
    if (!isNumber(index) || !isNumber(count)) {
      throw new IllegalArgumentException(
          "expected I/N such as 0/3: this scheduler's number, counted from 0, and how many there"
              + " are");
    }
    return new Partition(Integer.parseInt(index), Integer.parseInt(count));
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() <= 9
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** Returns true when one scheduler works on everything. */
  public boolean isWhole() {
    return count == 1;
  }

  /** Returns true when the subtree of a child of the instance belongs to this partition. */
  public boolean owns(String name) {
    return count == 1 || ownerOf(name, count) == index;
  }

  /** Returns true when the tasks of the instance node belong to this partition. */
  public boolean ownsInstance() {
    return index == 0;
  }

  /** Which of {@code count} partitions owns the subtree of a child of the instance. */
  public static int ownerOf(String name, int count) {
    return bucket(FilterEvaluator.hash(name), count);
  }

  /** The jump consistent hash, with the constants of its authors. */
  static int bucket(long key, int count) {
    long k = key;
    long bucket = -1;
    long next = 0;
    while (next < count) {
      bucket = next;
      k = k * 2862933555777941757L + 1;
      next = (long) ((bucket + 1) * ((double) (1L << 31) / ((k >>> 33) + 1)));
    }
    return (int) bucket;
  }

  /** The form of {@code --shard}. */
  @Override
  public String toString() {
    return index + "/" + count;
  }
}
