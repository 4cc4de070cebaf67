package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.worker.process.FileNames;
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
 * The logs of all jobs, the memory that their lines take, and the newest id. Its {@link #lock}
 * guards all of that and is held briefly; who also needs {@link #files} takes that first. But for
 * {@link #segments}, every method is called with the lock held, or before there are other threads.
 */
final class JobLogTable {
  private static final int LINE_OVERHEAD = 120;

  /** Guards what is in memory. */
  final ReentrantLock lock = new ReentrantLock();

  /** What touches files of jobs: blocks being written, segments being deleted. Taken first. */
  final ReentrantLock files = new ReentrantLock();

  private final Path directory;
  private final Map<String, JobLog> jobs = new HashMap<>();
  private long memoryBytes;
  private long lastId;

  /**
   * @param directory with a directory for each job
   */
  JobLogTable(Path directory) {
    this.directory = directory;
  }

  /** Memory that a line takes, about. */
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

  /** A line of a write-ahead file; it may be in a block, or have been there before. */
  void recovered(LogLine line) {
    given(line.id());
    if (line.id() > job(line.job()).lastId()) {
      add(line);
    }
  }

  /** An id that is taken. */
  void given(long id) {
    lastId = Math.max(lastId, id);
  }

  long lastId() {
    return lastId;
  }

  /** Keeps a line in memory, which has the newest id of its job. */
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

  /** That much is no longer in memory. */
  void freed(long bytes) {
    memoryBytes -= bytes;
  }

  long memoryBytes() {
    return memoryBytes;
  }

  /** The segments of a job; without the lock. */
  List<Segment> segments(JobLog job) {
    lock.lock();
    try {
      return job.segments();
    } finally {
      lock.unlock();
    }
  }
}
