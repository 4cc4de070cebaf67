package io.espalier.worker.logs;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Caches the block heads of the most recently read segments, within a bound. */
final class BlockHeaderCache {
  private static final long MOST_BYTES = 32 << 20;
  private static final int HEAD_BYTES = 120;

  private final Map<Segment, Long> known = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** Returns the heads of a segment's blocks. */
  List<Block> blocks(Segment segment) throws IOException {
    List<Block> blocks = segment.blocks();
    long size = blocks.stream().mapToLong(block -> HEAD_BYTES + block.filter().length()).sum();
    synchronized (this) {
      Long before = known.put(segment, size);
      bytes += size - (before == null ? 0 : before);
      Iterator<Map.Entry<Segment, Long>> oldest = known.entrySet().iterator();
      while (bytes > MOST_BYTES && oldest.hasNext()) {
        Map.Entry<Segment, Long> entry = oldest.next();
        bytes -= entry.getValue();
        entry.getKey().forgetBlocks();
        oldest.remove();
      }
    }
    return blocks;
  }

  /** Drops a deleted segment from the cache. */
  synchronized void forget(Segment segment) {
    Long before = known.remove(segment);
    if (before != null) {
      bytes -= before;
    }
  }
}
