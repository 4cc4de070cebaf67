package io.espalier.worker.logs;

import io.espalier.core.logs.LineSearch;
import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStats;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.Redactor;
import io.espalier.worker.process.FileNames;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Task logs in append-only files (ADR 10).
 *
 * <pre>
 *   logs/N.wal              every line, as it came; lost is what was not yet written here
 *   logs/jobs/JOB/*.open    compressed blocks of one job, growing
 *   logs/jobs/JOB/*.seg     the same, full
 * </pre>
 *
 * <p>Appending only puts the line into memory, where queries find it. One writer thread writes what
 * has gathered to the write-ahead file, every 20 ms or 2,000 lines; when a job has 256 KiB of lines
 * in memory they become a block of its newest segment, and when the write-ahead file is full a new
 * one is begun with the lines that are still only in memory. A death of the process loses what was
 * appended within the last 20 ms or so; a death of the machine what it had not written back yet. A
 * disk that does not take lines is a {@link #problem}, lines wait in memory, and {@link #hasRoom}
 * says when tasks must wait with them.
 */
public final class SegmentLogStore implements LogStore {
  private static final Logger log = LoggerFactory.getLogger(SegmentLogStore.class);

  private static final int LINE_OVERHEAD = 120;
  private static final long LINGER_NANOS = 20_000_000;
  private static final long RETRY_NANOS = 500_000_000;
  private static final int ENOUGH_LINES = 2000;
  private static final long DAY_MILLIS = 86_400_000;
  private static final long CLOSE_MILLIS = 15_000;

  private final Path directory;
  private final LogLimits limits;
  private final HeadCache heads = new HeadCache();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** What touches files of jobs: blocks being written, segments being deleted. Taken first. */
  private final ReentrantLock files = new ReentrantLock();

  private final Map<String, JobLog> jobs = new HashMap<>();
  private final Map<String, Redactor> redactors = new ConcurrentHashMap<>();
  private final Deflater deflater = new Deflater(Deflater.BEST_SPEED);
  private final Thread thread = new Thread(this::write, "task-log-writer");
  private WriteAhead writeAhead;
  private volatile LogPolicy policy = LogPolicy.NONE;
  private volatile boolean room = true;
  private volatile @Nullable String problem;
  private List<LogLine> pending = new ArrayList<>();
  private long pendingBytes;
  private long memoryBytes;
  private long lastId;
  private long appended;
  private long appendedBytes;
  private long dropped;
  private long reportedDropped;
  private long written;
  private long writeNanos;
  private boolean closing;

  /** What is in the write-ahead file goes up to here; of the writer. */
  private long safeId;

  @SuppressWarnings("NullAway.Init")
  private SegmentLogStore(Path directory, LogLimits limits) {
    this.directory = directory;
    this.limits = limits;
    thread.setDaemon(true);
  }

  /**
   * Opens the logs in a directory, making it when missing. Not for two processes at a time.
   *
   * @throws IOException naming the file, when it cannot be used or holds something else
   */
  public static SegmentLogStore open(Path directory) throws IOException {
    return open(directory, LogLimits.DEFAULT);
  }

  /** The same with other sizes. */
  public static SegmentLogStore open(Path directory, LogLimits limits) throws IOException {
    SegmentLogStore store = new SegmentLogStore(directory, limits);
    try {
      store.load();
    } catch (IOException e) {
      throw new IOException("cannot use the task logs in " + directory + ": " + e.getMessage(), e);
    }
    store.thread.start();
    return store;
  }

  private void load() throws IOException {
    Path all = directory.resolve("jobs");
    Files.createDirectories(all);
    try (DirectoryStream<Path> found = Files.newDirectoryStream(all)) {
      for (Path one : found) {
        JobLog job = JobLog.load(one);
        if (job != null) {
          jobs.put(job.job(), job);
          lastId = Math.max(lastId, job.lastId());
        }
      }
    }
    writeAhead =
        WriteAhead.open(directory, given -> lastId = Math.max(lastId, given), this::recovered);
    safeId = lastId;
  }

  /** A line of a write-ahead file; it may be in a block, or have been there before. */
  private void recovered(LogLine line) {
    lastId = Math.max(lastId, line.id());
    JobLog job = job(line.job());
    if (line.id() > job.lastId()) {
      job.add(line, sizeOf(line));
      memoryBytes += sizeOf(line);
    }
  }

  private JobLog job(String name) {
    return jobs.computeIfAbsent(
        name, n -> new JobLog(n, directory.resolve("jobs").resolve(FileNames.encode(n))));
  }

  /** Memory that a line takes, about. */
  static int sizeOf(LogLine line) {
    return line.text().length() + LINE_OVERHEAD;
  }

  @Override
  public void append(LogEntry entry) {
    lock.lock();
    try {
      if (closing || memoryBytes > limits.most()) {
        dropped++;
        return;
      }
      lastId = Math.max(lastId + 1, (entry.timeMillis() / 1000) << 32);
      LogLine line = LogLine.of(lastId, entry);
      int size = sizeOf(line);
      job(entry.job()).add(line, size);
      pending.add(line);
      pendingBytes += size;
      memoryBytes += size;
      appended++;
      appendedBytes += entry.text().length();
      if (pendingBytes > limits.waiting() || memoryBytes > limits.memory()) {
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
    return redactors.computeIfAbsent(job, j -> Redactor.of(policy.patternsOf(j)));
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
    deflater.end();
  }

  /** One batch, and the blocks that are due; false at the end. */
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
      storeBlocks();
      good = true;
    } catch (IOException | RuntimeException e) {
      trouble("cannot write task logs to " + directory + ": " + e.getMessage(), e);
    }
    lock.lock();
    try {
      writeNanos += System.nanoTime() - begin;
      if (safe) {
        written += batch.size();
        pendingBytes -= batch.stream().mapToLong(SegmentLogStore::sizeOf).sum();
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
    room = pendingBytes <= limits.waiting() && memoryBytes <= limits.memory();
  }

  /** After a failure, before the next try. */
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
      // A full disk needs no stack trace; a mistake of ours does.
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

  /** Lines come in bursts: a write for each would cost more than the lines. */
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

  /** Makes blocks of what is enough for one. */
  private void storeBlocks() throws IOException {
    boolean renew = writeAhead.length() > limits.writeAhead();
    if (renew || memoryBytes() > limits.block()) {
      store(renew ? limits.block() / 8 : limits.block());
    }
    if (memoryBytes() > limits.memory() / 2) {
      // Many jobs with little each.
      store(0);
    }
    if (renew) {
      renew();
    }
  }

  private long memoryBytes() {
    lock.lock();
    try {
      return memoryBytes;
    } finally {
      lock.unlock();
    }
  }

  /** Makes a block of the lines of every job that has so many bytes in memory. */
  private void store(long atLeast) throws IOException {
    List<JobLog> full = new ArrayList<>();
    lock.lock();
    try {
      for (JobLog job : jobs.values()) {
        if (job.openBytes() > 0 && job.openBytes() >= atLeast) {
          full.add(job);
        }
      }
    } finally {
      lock.unlock();
    }
    for (JobLog job : full) {
      files.lock();
      try {
        store(job);
      } finally {
        files.unlock();
      }
    }
  }

  /**
   * Only lines that are in the write-ahead file: what a death leaves is then all lines up to some
   * id, and never later ones of one job without earlier ones of another.
   */
  private void store(JobLog job) throws IOException {
    List<LogLine> all;
    lock.lock();
    try {
      all = job.openLines(safeId);
    } finally {
      lock.unlock();
    }
    int at = 0;
    while (at < all.size()) {
      int end = at;
      for (long bytes = 0; end < all.size() && bytes < 2 * limits.block(); end++) {
        bytes += sizeOf(all.get(end));
      }
      store(job, all.subList(at, end));
      at = end;
    }
  }

  private void store(JobLog job, List<LogLine> lines) throws IOException {
    job.makeDirectory();
    Segment target;
    lock.lock();
    try {
      target = job.target(lines.get(0).id());
    } finally {
      lock.unlock();
    }
    Block block = target.write(Block.encode(lines, deflater));
    lock.lock();
    try {
      memoryBytes -= job.stored(target, block, lines.size());
    } finally {
      lock.unlock();
    }
    boolean longLasting = target.maxTime() - target.minTime() > DAY_MILLIS;
    if (longLasting || target.length() >= segmentSize(job.job())) {
      target.force();
      target.seal();
    }
  }

  /** Small enough that deleting one does not delete much of what may be kept. */
  private long segmentSize(String job) {
    LogPolicy now = policy;
    long size = limits.segment();
    if (now.of(job).maxBytes() > 0) {
      size = Math.min(size, now.of(job).maxBytes() / 8);
    }
    if (now.all().maxBytes() > 0) {
      size = Math.min(size, now.all().maxBytes() / 16);
    }
    return Math.max(size, Math.min(limits.segment(), 64 << 10));
  }

  /** Lines of quiet jobs are carried on from file to file instead of becoming tiny blocks. */
  private void renew() throws IOException {
    List<LogLine> needed = new ArrayList<>();
    List<Segment> written = new ArrayList<>();
    long id;
    lock.lock();
    try {
      id = lastId;
      for (JobLog job : jobs.values()) {
        needed.addAll(job.openLines());
        for (Segment segment : job.segments()) {
          if (!segment.isSealed()) {
            written.add(segment);
          }
        }
      }
    } finally {
      lock.unlock();
    }
    for (Segment segment : written) {
      segment.force();
    }
    needed.sort(Comparator.comparingLong(LogLine::id));
    writeAhead.renew(id, needed);
  }

  @Override
  public LogPage query(LogQuery query) {
    LineSearch search = new LineSearch(query.regex());
    LogQuery bounded = bounded(query);
    List<JobLog.View> views = new ArrayList<>();
    lock.lock();
    try {
      for (JobLog job : jobs.values()) {
        if (bounded.wantsJob(job.job())) {
          views.add(job.view(bounded));
        }
      }
    } finally {
      lock.unlock();
    }
    return new LogSearch(bounded, search, heads, limits.scanned()).page(views);
  }

  /** No line is older than its id says: what is older need not be looked at. */
  private static LogQuery bounded(LogQuery query) {
    long first = (query.sinceMillis() / 1000) << 32;
    return query.ascending() && query.sinceMillis() > 0 && query.from() < first
        ? query.withFrom(first)
        : query;
  }

  @Override
  public void prune(long nowMillis) {
    LogPolicy now = policy;
    List<JobLog> all;
    files.lock();
    lock.lock();
    try {
      all = new ArrayList<>(jobs.values());
      for (JobLog job : all) {
        memoryBytes -= job.keepSince(now.of(job.job()).keptSince(nowMillis));
      }
      findRoom();
    } finally {
      lock.unlock();
      files.unlock();
    }
    long total = 0;
    List<Old> oldest = new ArrayList<>();
    for (JobLog job : all) {
      long keptSince = now.of(job.job()).keptSince(nowMillis);
      long most = now.of(job.job()).maxBytes();
      List<Segment> segments = segmentsOf(job);
      long size = segments.stream().mapToLong(Segment::length).sum();
      for (Segment segment : segments) {
        long length = segment.length();
        if (segment.maxTime() < keptSince || (most > 0 && size > most)) {
          size -= length;
          delete(job, segment, length);
        } else {
          oldest.add(new Old(job, segment, length));
        }
      }
      total += size;
    }
    if (now.all().maxBytes() > 0 && total > now.all().maxBytes()) {
      oldest.sort(Comparator.comparingLong(old -> old.segment().firstId()));
      for (Old old : oldest) {
        if (total <= now.all().maxBytes()) {
          break;
        }
        total -= old.length();
        delete(old.job(), old.segment(), old.length());
      }
    }
    all.forEach(this::forgetIfEmpty);
  }

  private record Old(JobLog job, Segment segment, long length) {}

  private List<Segment> segmentsOf(JobLog job) {
    lock.lock();
    try {
      return job.segments();
    } finally {
      lock.unlock();
    }
  }

  /**
   * One file at a time, so that the writer never waits for more.
   *
   * @param length as it was when this was decided: a segment that has grown since holds new lines
   */
  private void delete(JobLog job, Segment segment, long length) {
    files.lock();
    try {
      if (segment.length() != length) {
        return;
      }
      lock.lock();
      try {
        job.remove(segment);
      } finally {
        lock.unlock();
      }
      heads.forget(segment);
      segment.delete();
    } catch (IOException e) {
      log.warn("cannot delete old task logs {}: {}", segment, e.getMessage());
    } finally {
      files.unlock();
    }
  }

  private void forgetIfEmpty(JobLog job) {
    files.lock();
    try {
      lock.lock();
      try {
        if (!job.isEmpty()) {
          return;
        }
        jobs.remove(job.job());
      } finally {
        lock.unlock();
      }
      job.removeDirectory();
    } catch (IOException e) {
      log.warn("cannot delete the task log of job {}: {}", job.job(), e.getMessage());
    } finally {
      files.unlock();
    }
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
      for (JobLog job : jobs.values()) {
        for (Segment segment : job.segments()) {
          stored += segment.length();
          count++;
        }
      }
      return new LogStats(appended, appendedBytes, dropped, memoryBytes, stored, count, writeNanos);
    } finally {
      lock.unlock();
    }
  }

  /** How many of the lines that were appended a death of this process would leave. */
  long writtenLines() {
    lock.lock();
    try {
      return written;
    } finally {
      lock.unlock();
    }
  }

  /** Writes what was appended, then closes the files. */
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
