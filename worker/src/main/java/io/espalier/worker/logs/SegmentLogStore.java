package io.espalier.worker.logs;

import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStats;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.Redactor;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Task logs in append-only files (docs/adr/0010-log-store.md).
 *
 * <pre>
 *   logs/N.wal              every line, in order of arrival; unwritten lines are lost in a crash
 *   logs/jobs/JOB/*.open    compressed blocks of one job, growing
 *   logs/jobs/JOB/*.seg     the same, full
 * </pre>
 *
 * <p>Appending only puts the line into memory, where queries find it. One writer thread writes the
 * collected lines to the write-ahead file, every 20 ms or 2,000 lines. When a job has 256 KiB of
 * lines in memory they become a block of its newest segment. When the write-ahead file is full, a
 * new one begins with the lines that are still only in memory. A crash of the process loses what
 * was appended within about the last 20 ms; a crash of the machine loses what it had not written
 * back yet. A disk that rejects lines is reported as a {@link #problem}: lines wait in memory, and
 * {@link #hasRoom} returns false when tasks must wait with them.
 */
public final class SegmentLogStore implements LogStore {
  private static final Logger log = LoggerFactory.getLogger(SegmentLogStore.class);

  private static final long LINGER_NANOS = 20_000_000;
  private static final long RETRY_NANOS = 500_000_000;
  private static final int ENOUGH_LINES = 2000;
  private static final long CLOSE_MILLIS = 15_000;

  private final Path directory;
  private final LogLimits limits;
  private final BlockHeaderCache heads = new BlockHeaderCache();
  private final JobLogTable table;
  private final ReentrantLock lock;
  private final Condition changed;
  private final LogPruner pruner;
  private final Map<String, Redactor> redactors = new ConcurrentHashMap<>();
  private final Thread thread = new Thread(this::write, "task-log-writer");
  private WriteAheadLog writeAhead;
  private BlockWriter blocks;
  private volatile LogPolicy policy = LogPolicy.NONE;
  private volatile boolean room = true;
  private volatile @Nullable String problem;
  private List<LogLine> pending = new ArrayList<>();
  private long pendingBytes;
  private long appended;
  private long appendedBytes;
  private long dropped;
  private long reportedDropped;
  private long written;
  private long writeNanos;
  private boolean closing;

  /** Id of the last line in the write-ahead file; confined to the writer thread. */
  private long safeId;

  @SuppressWarnings("NullAway.Init")
  private SegmentLogStore(Path directory, LogLimits limits) {
    this.directory = directory;
    this.limits = limits;
    this.table = new JobLogTable(directory.resolve("jobs"));
    this.lock = table.lock;
    this.changed = lock.newCondition();
    this.pruner = new LogPruner(table, heads, this::findRoom);
    thread.setDaemon(true);
  }

  /**
   * Opens the logs in a directory and creates it when missing. Only one process may use the
   * directory at a time.
   *
   * @throws IOException naming the file, when it cannot be used or has foreign content
   */
  public static SegmentLogStore open(Path directory) throws IOException {
    return open(directory, LogLimits.DEFAULT);
  }

  /** Opens the logs with other sizes. */
  public static SegmentLogStore open(Path directory, LogLimits limits) throws IOException {
    SegmentLogStore store = new SegmentLogStore(directory, limits);
    SegmentLogStore loaded =
        FileFailures.needing(
            "the output of tasks",
            directory,
            () -> {
              store.load();
              return store;
            });
    loaded.thread.start();
    return store;
  }

  private void load() throws IOException {
    table.load();
    writeAhead = WriteAheadLog.open(directory, table::given, table::recovered);
    blocks = new BlockWriter(table, limits, writeAhead, () -> policy);
    safeId = table.lastId();
  }

  @Override
  public void append(LogEntry entry) {
    lock.lock();
    try {
      if (closing || table.memoryBytes() > limits.most()) {
        dropped++;
        return;
      }
      long id = Math.max(table.lastId() + 1, (entry.timeMillis() / 1000) << 32);
      LogLine line = LogLine.of(id, entry);
      table.add(line);
      pending.add(line);
      pendingBytes += JobLogTable.sizeOf(line);
      appended++;
      appendedBytes += entry.text().length();
      if (pendingBytes > limits.waiting() || table.memoryBytes() > limits.memory()) {
        room = false;
      }
      if (pending.size() == 1 || pending.size() == ENOUGH_LINES) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean hasRoom() {
    return room;
  }

  @Override
  public Redactor redactor(String job) {
    Redactor known = redactors.get(job);
    return known == null
        ? redactors.computeIfAbsent(job, j -> Redactor.of(policy.patternsOf(j)))
        : known;
  }

  @Override
  public void apply(LogPolicy newPolicy) {
    policy = newPolicy;
    redactors.clear();
  }

  private void write() {
    while (writeSome()) {
      log.trace("{} bytes wait", pendingBytes);
    }
    blocks.end();
  }

  /** Writes one batch and the blocks that are due; returns false at the end. */
  private boolean writeSome() {
    List<LogLine> batch;
    lock.lock();
    try {
      while (pending.isEmpty() && !closing && problem == null) {
        changed.awaitUninterruptibly();
      }
      linger();
      if (closing && pending.isEmpty()) {
        return false;
      }
      batch = pending;
      pending = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    long begin = System.nanoTime();
    boolean safe = false;
    boolean good = false;
    try {
      if (!batch.isEmpty()) {
        writeAhead.append(batch);
        safeId = batch.get(batch.size() - 1).id();
      }
      safe = true;
      blocks.storeBlocks(safeId);
      good = true;
    } catch (IOException | RuntimeException e) {
      trouble("cannot write task logs to " + directory + ": " + e.getMessage(), e);
    }
    lock.lock();
    try {
      writeNanos += System.nanoTime() - begin;
      if (safe) {
        written += batch.size();
        pendingBytes -= batch.stream().mapToLong(JobLogTable::sizeOf).sum();
      } else {
        batch.addAll(pending);
        pending = batch;
      }
      findRoom();
      if (good) {
        settled();
      } else if (closing) {
        dropped += pending.size();
        return false;
      } else {
        pause();
      }
    } finally {
      lock.unlock();
    }
    return true;
  }

  private void findRoom() {
    room = pendingBytes <= limits.waiting() && table.memoryBytes() <= limits.memory();
  }

  /** Waits after a failure, before the next attempt. */
  private void pause() {
    long left = RETRY_NANOS;
    try {
      while (left > 0 && !closing) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      log.debug("the writer of task logs does not stop for interrupts", e);
    }
  }

  private void trouble(String what, Exception cause) {
    if (!what.equals(problem)) {
      // A full disk needs no stack trace; a bug of ours does.
      log.error(
          "{}; tasks wait with their output when memory is full",
          what,
          cause instanceof IOException ? null : cause);
      problem = what;
    }
  }

  private void settled() {
    if (dropped > reportedDropped) {
      log.error("{} lines of task logs were lost", dropped - reportedDropped);
      reportedDropped = dropped;
    }
    if (problem != null) {
      log.info("task logs are written again");
      problem = null;
    }
  }

  /**
   * Waits a little for more lines. Lines arrive in bursts, and a write for each would cost more
   * than the lines.
   */
  private void linger() {
    long left = LINGER_NANOS;
    try {
      while (left > 0 && pending.size() < ENOUGH_LINES && !closing) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      log.debug("the writer of task logs does not stop for interrupts", e);
    }
  }

  @Override
  public LogPage query(LogQuery query) {
    BoundedRegexSearch search = new BoundedRegexSearch(query.regex());
    LogQuery bounded = bounded(query);
    List<JobLog.View> views = new ArrayList<>();
    lock.lock();
    try {
      for (JobLog job : table.jobs()) {
        if (bounded.wantsJob(job.job())) {
          views.add(job.view(bounded));
        }
      }
    } finally {
      lock.unlock();
    }
    return new LogSearch(bounded, search, heads, limits.scanned()).page(views);
  }

  /**
   * Adds a lower bound of the ids. No line is older than its id indicates, so older ids need no
   * search.
   */
  private static LogQuery bounded(LogQuery query) {
    long first = (query.sinceMillis() / 1000) << 32;
    return query.ascending() && query.sinceMillis() > 0 && query.from() < first
        ? query.withFrom(first)
        : query;
  }

  @Override
  public void prune(long nowMillis) {
    pruner.prune(policy, nowMillis);
  }

  @Override
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  @Override
  public LogStats stats() {
    lock.lock();
    try {
      long stored = writeAhead.length();
      long count = 1;
      for (JobLog job : table.jobs()) {
        for (Segment segment : job.segments()) {
          stored += segment.length();
          count++;
        }
      }
      return new LogStats(
          appended, appendedBytes, dropped, table.memoryBytes(), stored, count, writeNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many of the appended lines would survive a crash of this process. */
  long writtenLines() {
    lock.lock();
    try {
      return written;
    } finally {
      lock.unlock();
    }
  }

  /** Writes all appended lines, then closes the files. */
  @Override
  public void close() {
    lock.lock();
    try {
      closing = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      thread.join(CLOSE_MILLIS);
      if (thread.isAlive()) {
        log.error("task logs cannot be written; what is in memory is lost");
        return;
      }
      writeAhead.force();
      writeAhead.close();
    } catch (IOException e) {
      log.warn("closing the task logs: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
