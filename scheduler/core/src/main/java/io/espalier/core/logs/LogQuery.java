package io.espalier.core.logs;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A query for a page of logs (docs/design/bistro.md#output). Contains only plain values, so that it
 * can be sent to workers.
 *
 * @param streams at least one stream
 * @param jobs job names; empty: any
 * @param nodes node names; empty: any
 * @param invocation token of one attempt; empty: any
 * @param from first id, inclusive, in the given direction; -1: from the end of the range
 * @param limit maximum number of lines, 1 or more
 * @param sinceMillis only lines of this time or later; 0: no bound
 * @param untilMillis only lines before this time; 0: no bound
 * @param regex expression that must be found in the text, valid for {@link Pattern}; filtered
 *     inside the query, so that paging is complete; empty: none
 */
@RecordBuilder
public record LogQuery(
    Set<LogLine.Stream> streams,
    List<String> jobs,
    List<String> nodes,
    String invocation,
    long from,
    boolean ascending,
    int limit,
    long sinceMillis,
    long untilMillis,
    String regex)
    implements LogQueryBuilder.With {
  public LogQuery {
    if (streams.isEmpty()) {
      throw new IllegalArgumentException("a query is about one stream at least");
    }
    if (limit < 1) {
      throw new IllegalArgumentException("a page has at least one line, not " + limit);
    }
    streams = Collections.unmodifiableSet(EnumSet.copyOf(streams));
    jobs = List.copyOf(jobs);
    nodes = List.copyOf(nodes);
  }

  /** Queries all lines of a stream, oldest first, 100 per page. */
  public static LogQuery of(LogLine.Stream stream) {
    return of(EnumSet.of(stream));
  }

  /** Queries all lines of some streams, oldest first, 100 per page. */
  public static LogQuery of(Set<LogLine.Stream> streams) {
    return new LogQuery(streams, List.of(), List.of(), "", -1, true, 100, 0, 0, "");
  }

  /**
   * A copy with other bounds on the time of lines, in epoch milliseconds.
   *
   * @param since inclusive; 0: no bound
   * @param until exclusive; 0: no bound
   */
  public LogQuery withTimes(long since, long until) {
    return withSinceMillis(since).withUntilMillis(until);
  }

  /** Returns true when the id is in the range that this page may still reach. */
  public boolean reaches(long id) {
    return from < 0 || (ascending ? id >= from : id <= from);
  }

  /** Returns true when the query includes the job. */
  public boolean wantsJob(String job) {
    return jobs.isEmpty() || jobs.contains(job);
  }

  /** Returns true when the query includes lines of this time. */
  public boolean wantsTime(long millis) {
    return millis >= sinceMillis && (untilMillis <= 0 || millis < untilMillis);
  }

  /** Evaluates everything except the regular expression, which is the expensive part. */
  public boolean wants(LogLine line) {
    return streams.contains(line.stream())
        && reaches(line.id())
        && wantsTime(line.timeMillis())
        && wantsJob(line.job())
        && (nodes.isEmpty() || nodes.contains(line.node()))
        && (invocation.isEmpty() || invocation.equals(line.invocation()));
  }

  /** Why a regular expression is not valid as {@link #regex}; empty when it is valid. */
  public static String complaintAbout(String regex) {
    List<String> complaints = new ArrayList<>();
    BoundedRegexSearch.compile(regex, complaints::add);
    return complaints.isEmpty() ? "" : complaints.get(0);
  }
}
