package io.espalier.worker.logs;

import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Answers one query from the views of jobs, merged by id. Its work is limited: at the limit, the
 * page contains the position at which to continue.
 */
final class LogSearch {
  /** Bytes of lines that one call reads, which takes some tenths of a second. */
  static final long BYTES_PER_CALL = 64L << 20;

  private static final long STEPS_PER_CALL = 100_000_000;

  private final LogQuery query;
  private final BoundedRegexSearch search;
  private final BlockHeaderCache heads;
  private final JobCursor.Work work;
  private final PriorityQueue<Entry> queue;
  private final List<JobCursor> cursors = new ArrayList<>();

  private record Entry(long bound, JobCursor cursor) {}

  LogSearch(LogQuery query, BoundedRegexSearch search, BlockHeaderCache heads, long bytesPerCall) {
    this.query = query;
    this.heads = heads;
    this.search = search;
    this.work = new JobCursor.Work(bytesPerCall);
    this.queue =
        new PriorityQueue<>(
            (a, b) ->
                query.ascending()
                    ? Long.compare(a.bound(), b.bound())
                    : Long.compare(b.bound(), a.bound()));
  }

  LogPage page(List<JobLog.View> views) {
    try {
      for (JobLog.View view : views) {
        JobCursor cursor = new JobCursor(query, view, heads, work);
        cursors.add(cursor);
        enqueue(cursor);
      }
      return page();
    } finally {
      cursors.forEach(JobCursor::close);
    }
  }

  private LogPage page() {
    List<LogLine> lines = new ArrayList<>();
    Entry start = queue.peek();
    for (Entry first = queue.poll(); first != null; first = queue.poll()) {
      // A call that did not advance past its first id would repeat indefinitely.
      if (start != null && first.bound() != start.bound() && shouldStop(first.cursor())) {
        return new LogPage(lines, first.bound());
      }
      LogLine found = run(first);
      if (found != null) {
        if (lines.size() == query.limit()) {
          return new LogPage(lines, found.id());
        }
        lines.add(found);
      }
      enqueue(first.cursor());
    }
    return new LogPage(lines, LogPage.END);
  }

  /** Advances the first job, as long as it stays first, until it finds a line. */
  private @Nullable LogLine run(Entry first) {
    Entry second = queue.peek();
    JobCursor cursor = first.cursor();
    for (Long bound = cursor.bound();
        bound != null && (second == null || !isAfter(bound, second.bound()));
        bound = cursor.bound()) {
      LogLine line = cursor.step();
      if (line != null && search.isIn(line.text())) {
        return line;
      }
      if (shouldStop(cursor)) {
        return null;
      }
    }
    return null;
  }

  /**
   * Returns whether to stop at the limit. Lines that are already read are still searched: the next
   * call would have to read them again.
   */
  private boolean shouldStop(JobCursor cursor) {
    return search.steps() > STEPS_PER_CALL || (work.isDone() && !cursor.isLoaded());
  }

  private boolean isAfter(long bound, long other) {
    return query.ascending() ? bound > other : bound < other;
  }

  private void enqueue(JobCursor cursor) {
    Long bound = cursor.bound();
    if (bound != null) {
      queue.add(new Entry(bound, cursor));
    }
  }
}
