package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.worker.process.os.FileNames;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The logs of all jobs, the memory that their lines occupy, and the newest id. Its {@link #lock}
 * guards all of these and is held only briefly; a thread that also needs {@link #files} acquires
 * that one first. Except for {@link #segments}, callers hold the lock, or no other threads exist
 * yet.
 */
final class JobLogTable {
  private static final int LINE_OVERHEAD = 120;

  /** Guards the state in memory. */
  final ReentrantLock lock = new ReentrantLock();

  /**
   * Guards the files of jobs while blocks are written or segments deleted. Acquire it before {@link
   * #lock}.
   */
  final ReentrantLock files = new ReentrantLock();

  private final Path directory;
  private final Map<String, JobLog> jobs = new HashMap<>();
  private long memoryBytes;
  private long lastId;

  /**
   * @param directory has a subdirectory for each job
   */
  JobLogTable(Path directory) {
    this.directory = directory;
  }

  /** Returns the approximate memory that a line occupies. */
  static int sizeOf(LogLine line) {
    return line.text().length() + LINE_OVERHEAD;
  }

  /** Finds the jobs that have files. */
  void load() throws IOException {
    Files.createDirectories(directory);
    try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
      for (Path one : found) {
        JobLog job = JobLog.load(one);
        if (job != null) {
          jobs.put(job.job(), job);
          given(job.lastId());
        }
      }
    }
  }

  /** Adds a line of a write-ahead file. It may already be in a block, or have been added before. */
  void recovered(LogLine line) {
    given(line.id());
    if (line.id() > job(line.job()).lastId()) {
      add(line);
    }
  }

  /** Notes an id as used. */
  void given(long id) {
    lastId = Math.max(lastId, id);
  }

  long lastId() {
    return lastId;
  }

  /** Adds a line to memory; it has the newest id of its job. */
  void add(LogLine line) {
    given(line.id());
    int size = sizeOf(line);
    job(line.job()).add(line, size);
    memoryBytes += size;
  }

  private JobLog job(String name) {
    return jobs.computeIfAbsent(name, n -> new JobLog(n, directory.resolve(FileNames.encode(n))));
  }

  Collection<JobLog> jobs() {
    return jobs.values();
  }

  void remove(JobLog job) {
    jobs.remove(job.job());
  }

  /** Subtracts bytes that are no longer in memory. */
  void freed(long bytes) {
    memoryBytes -= bytes;
  }

  long memoryBytes() {
    return memoryBytes;
  }

  /** Returns the segments of a job; call without the lock. */
  List<Segment> segments(JobLog job) {
    lock.lock();
    try {
      return job.segments();
    } finally {
      lock.unlock();
    }
  }
}
