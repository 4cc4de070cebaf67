package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.Deflater;

/**
 * Compresses lines in memory into blocks, and starts a new write-ahead file when the current one is
 * full. Confined to the writer thread.
 */
final class BlockWriter {
  private static final long DAY_MILLIS = 86_400_000;

  private final JobLogTable table;
  private final LogLimits limits;
  private final WriteAheadLog writeAhead;
  private final Supplier<LogPolicy> policy;
  private final Deflater deflater = new Deflater(Deflater.BEST_SPEED);

  BlockWriter(
      JobLogTable table, LogLimits limits, WriteAheadLog writeAhead, Supplier<LogPolicy> policy) {
    this.table = table;
    this.limits = limits;
    this.writeAhead = writeAhead;
    this.policy = policy;
  }

  /**
   * Writes a block for every job that has enough lines for one.
   *
   * @param safeId id of the last line that is in the write-ahead file
   */
  void storeBlocks(long safeId) throws IOException {
    boolean renew = writeAhead.length() > limits.writeAhead();
    if (renew || memoryBytes() > limits.block()) {
      store(renew ? limits.block() / 8 : limits.block(), safeId);
    }
    if (memoryBytes() > limits.memory() / 2) {
      // Many jobs with few lines each.
      store(0, safeId);
    }
    if (renew) {
      renew();
    }
  }

  private long memoryBytes() {
    table.lock.lock();
    try {
      return table.memoryBytes();
    } finally {
      table.lock.unlock();
    }
  }

  /** Writes a block for every job with at least the given number of bytes in memory. */
  private void store(long atLeast, long safeId) throws IOException {
    List<JobLog> full = new ArrayList<>();
    table.lock.lock();
    try {
      for (JobLog job : table.jobs()) {
        if (job.openBytes() > 0 && job.openBytes() >= atLeast) {
          full.add(job);
        }
      }
    } finally {
      table.lock.unlock();
    }
    for (JobLog job : full) {
      table.files.lock();
      try {
        store(job, safeId);
      } finally {
        table.files.unlock();
      }
    }
  }

  /**
   * Stores only lines that are in the write-ahead file. After a crash the log then consists of all
   * lines up to some id, and never has later lines of one job without earlier ones of another.
   */
  private void store(JobLog job, long safeId) throws IOException {
    List<LogLine> all;
    table.lock.lock();
    try {
      all = job.openLines(safeId);
    } finally {
      table.lock.unlock();
    }
    int at = 0;
    while (at < all.size()) {
      int end = at;
      for (long bytes = 0; end < all.size() && bytes < 2 * limits.block(); end++) {
        bytes += JobLogTable.sizeOf(all.get(end));
      }
      store(job, all.subList(at, end));
      at = end;
    }
  }

  private void store(JobLog job, List<LogLine> lines) throws IOException {
    job.makeDirectory();
    Segment target;
    table.lock.lock();
    try {
      target = job.target(lines.get(0).id());
    } finally {
      table.lock.unlock();
    }
    Block block = target.write(Block.encode(lines, deflater));
    table.lock.lock();
    try {
      table.freed(job.stored(target, block, lines.size()));
    } finally {
      table.lock.unlock();
    }
    boolean longLasting = target.maxTime() - target.minTime() > DAY_MILLIS;
    if (longLasting || target.length() >= segmentSize(job.job())) {
      target.force();
      target.seal();
    }
  }

  /**
   * Returns a segment size so small that deleting one segment does not delete much that may be
   * kept.
   */
  private long segmentSize(String job) {
    LogPolicy now = policy.get();
    long size = limits.segment();
    if (now.of(job).maxBytes() > 0) {
      size = Math.min(size, now.of(job).maxBytes() / 8);
    }
    if (now.all().maxBytes() > 0) {
      size = Math.min(size, now.all().maxBytes() / 16);
    }
    return Math.max(size, Math.min(limits.segment(), 64 << 10));
  }

  /** Copies the lines of quiet jobs from file to file instead of writing tiny blocks for them. */
  private void renew() throws IOException {
    List<LogLine> needed = new ArrayList<>();
    List<Segment> written = new ArrayList<>();
    long id;
    table.lock.lock();
    try {
      id = table.lastId();
      for (JobLog job : table.jobs()) {
        needed.addAll(job.openLines());
        for (Segment segment : job.segments()) {
          if (!segment.isSealed()) {
            written.add(segment);
          }
        }
      }
    } finally {
      table.lock.unlock();
    }
    for (Segment segment : written) {
      segment.force();
    }
    needed.sort(Comparator.comparingLong(LogLine::id));
    writeAhead.renew(id, needed);
  }

  /** Ends writing. */
  void end() {
    deflater.end();
  }
}
