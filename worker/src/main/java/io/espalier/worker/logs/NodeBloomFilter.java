package io.espalier.worker.logs;

import java.util.Collection;
import java.util.Set;

/**
 * A Bloom filter that excludes the blocks without lines of a node. It uses ten bits per node, so
 * about one in a hundred blocks is read unnecessarily.
 */
final class NodeBloomFilter {
  private static final int BITS_PER_NODE = 10;
  private static final int HASHES = 5;

  private final byte[] filter;

  /**
   * @param filter array that {@link #bytes} returned; not copied
   */
  NodeBloomFilter(byte[] filter) {
    this.filter = filter;
  }

  static NodeBloomFilter of(Set<String> nodes) {
    byte[] filter = new byte[(nodes.size() * BITS_PER_NODE + 7) / 8 + 1];
    for (String node : nodes) {
      long hash = hash(node);
      for (int i = 0; i < HASHES; i++) {
        int bit = bit(hash, i, filter.length);
        filter[bit >>> 3] |= (byte) (1 << (bit & 7));
      }
    }
    return new NodeBloomFilter(filter);
  }

  /** Returns the stored form, which the caller must not modify. */
  byte[] bytes() {
    return filter;
  }

  int length() {
    return filter.length;
  }

  boolean mayHold(Collection<String> nodes) {
    for (String node : nodes) {
      if (mayHold(node)) {
        return true;
      }
    }
    return false;
  }

  private boolean mayHold(String node) {
    long hash = hash(node);
    for (int i = 0; i < HASHES; i++) {
      int bit = bit(hash, i, filter.length);
      if ((filter[bit >>> 3] & 1 << (bit & 7)) == 0) {
        return false;
      }
    }
    return true;
  }

  private static int bit(long hash, int i, int bytes) {
    int mixed = (int) hash + i * (int) (hash >>> 32);
    return Integer.remainderUnsigned(mixed, bytes * 8);
  }

  /** FNV-1a over the characters, then mixed; part of the file format. */
  private static long hash(String node) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < node.length(); i++) {
      hash = (hash ^ node.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    return hash ^ hash >>> 29;
  }
}
