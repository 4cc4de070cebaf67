package io.espalier.core.logs;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A page of logs (behaviour 7.5).
 *
 * @param jobs empty: any
 * @param nodes empty: any
 * @param from first id, inclusive, in the given direction; -1: from the end of the range
 * @param limit lines at most
 * @param regex must be found in the text; filtered inside the query, so that paging is complete
 */
public record LogQuery(
    LogLine.Stream stream,
    List<String> jobs,
    List<String> nodes,
    long from,
    boolean ascending,
    int limit,
    @Nullable Pattern regex) {
  public LogQuery {
    jobs = List.copyOf(jobs);
    nodes = List.copyOf(nodes);
  }
}
