package io.espalier.worker.logs;

import io.espalier.core.logs.LogPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops lines that are too old, and deletes whole segments when they are too old or the logs too
 * large: first those of each job, then the oldest of all jobs. Runs concurrently with the writer
 * thread, for one caller at a time.
 */
final class LogPruner {
  private static final Logger log = LoggerFactory.getLogger(LogPruner.class);

  private final JobLogTable table;
  private final BlockHeaderCache heads;
  private final Runnable freed;

  /**
   * @param freed runs under the lock of the table after lines have been dropped from memory
   */
  LogPruner(JobLogTable table, BlockHeaderCache heads, Runnable freed) {
    this.table = table;
    this.heads = heads;
    this.freed = freed;
  }

  void prune(LogPolicy policy, long nowMillis) {
    List<JobLog> all = forgetLines(policy, nowMillis);
    long total = 0;
    List<Old> oldest = new ArrayList<>();
    for (JobLog job : all) {
      long keptSince = policy.of(job.job()).keptSince(nowMillis);
      long most = policy.of(job.job()).maxBytes();
      List<Segment> segments = table.segments(job);
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
    if (policy.all().maxBytes() > 0 && total > policy.all().maxBytes()) {
      oldest.sort(Comparator.comparingLong(old -> old.segment().firstId()));
      for (Old old : oldest) {
        if (total <= policy.all().maxBytes()) {
          break;
        }
        total -= old.length();
        delete(old.job(), old.segment(), old.length());
      }
    }
    all.forEach(this::forgetIfEmpty);
  }

  private record Old(JobLog job, Segment segment, long length) {}

  /** Drops old lines from memory and returns the jobs. */
  private List<JobLog> forgetLines(LogPolicy policy, long nowMillis) {
    table.files.lock();
    table.lock.lock();
    try {
      List<JobLog> all = new ArrayList<>(table.jobs());
      for (JobLog job : all) {
        table.freed(job.keepSince(policy.of(job.job()).keptSince(nowMillis)));
      }
      freed.run();
      return all;
    } finally {
      table.lock.unlock();
      table.files.unlock();
    }
  }

  /**
   * Deletes one file at a time, so that the writer never waits for more.
   *
   * @param length length at the time of the decision: a segment that has grown since contains new
   *     lines
   */
  private void delete(JobLog job, Segment segment, long length) {
    table.files.lock();
    try {
      if (segment.length() != length) {
        return;
      }
      table.lock.lock();
      try {
        job.remove(segment);
      } finally {
        table.lock.unlock();
      }
      heads.forget(segment);
      segment.delete();
    } catch (IOException e) {
      log.warn("cannot delete old task logs {}: {}", segment, e.getMessage());
    } finally {
      table.files.unlock();
    }
  }

  private void forgetIfEmpty(JobLog job) {
    table.files.lock();
    try {
      table.lock.lock();
      try {
        if (!job.isEmpty()) {
          return;
        }
        table.remove(job);
      } finally {
        table.lock.unlock();
      }
      job.removeDirectory();
    } catch (IOException e) {
      log.warn("cannot delete the task log of job {}: {}", job.job(), e.getMessage());
    } finally {
      table.files.unlock();
    }
  }
}
