package io.espalier.webui.fleet;

/**
 * Records the first scheduler seen with each name: a hash table of 64-bit hashes with 12 bytes per
 * entry, so that a million names of a thousand schedulers can be compared. Two names with the same
 * hash would count as one; that happens once in 10^7 fleets of a million names. Not thread-safe.
 */
final class FirstSeenTable {
  private static final int LEAST = 1 << 10;

  private long[] hashes = new long[LEAST];
  private int[] hosts = new int[LEAST];
  private int size;

  /**
   * Records a name.
   *
   * @param host number of its scheduler, from 0
   * @return the scheduler that had it before, or -1
   */
  int note(String group, String name, int host) {
    if (size * 2 >= hashes.length) {
      grow();
    }
    long hash = hash(group, name);
    int at = place(hash);
    if (hashes[at] == hash) {
      return hosts[at];
    }
    hashes[at] = hash;
    hosts[at] = host;
    size++;
    return -1;
  }

  private void grow() {
    long[] oldHashes = hashes;
    int[] oldHosts = hosts;
    hashes = new long[oldHashes.length * 2];
    hosts = new int[hashes.length];
    for (int i = 0; i < oldHashes.length; i++) {
      if (oldHashes[i] != 0) {
        int at = place(oldHashes[i]);
        hashes[at] = oldHashes[i];
        hosts[at] = oldHosts[i];
      }
    }
  }

  /** Returns the index of the hash, or of the free entry for it. */
  private int place(long hash) {
    int mask = hashes.length - 1;
    int at = (int) (hash ^ hash >>> 32) & mask;
    while (hashes[at] != 0 && hashes[at] != hash) {
      at = at + 1 & mask;
    }
    return at;
  }

  /** Returns the hash, never 0, which marks a free entry. */
  private static long hash(String group, String name) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < group.length(); i++) {
      hash = (hash ^ group.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ 0xffff) * 0x100000001b3L;
    for (int i = 0; i < name.length(); i++) {
      hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
    hash ^= hash >>> 33;
    return hash == 0 ? 1 : hash;
  }
}
