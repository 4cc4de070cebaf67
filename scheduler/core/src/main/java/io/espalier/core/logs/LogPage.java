package io.espalier.core.logs;

import java.util.List;
import java.util.Map;

/**
 * A page of lines and where to continue.
 *
 * @param lines lines in the requested order; may be empty although there are more, because the work
 *     of one call is bounded
 * @param nextId first id of the next page, just past the last examined line, or -1 when there are
 *     no more lines
 * @param missing sources without a response, such as unreachable workers, with the cause
 * @param positions for a client that follows the logs: the id with which to query each store next,
 *     by name of the store; otherwise empty
 */
public record LogPage(
    List<LogLine> lines, long nextId, List<String> missing, Map<String, Long> positions) {
  /** The {@code nextId} of the last page. */
  public static final long END = -1;

  public LogPage {
    lines = List.copyOf(lines);
    missing = List.copyOf(missing);
    positions = Map.copyOf(positions);
  }

  /** Creates a page that is not part of following the logs. */
  public LogPage(List<LogLine> lines, long nextId, List<String> missing) {
    this(lines, nextId, missing, Map.of());
  }

  /** Creates a page from complete sources. */
  public LogPage(List<LogLine> lines, long nextId) {
    this(lines, nextId, List.of());
  }
}
