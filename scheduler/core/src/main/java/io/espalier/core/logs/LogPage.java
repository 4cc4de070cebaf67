package io.espalier.core.logs;

import java.util.List;
import java.util.Map;

/**
 * Lines and where to go on.
 *
 * @param lines in the order that was asked for; may be empty although there is more, because the
 *     work of one call is bounded
 * @param nextId id to ask for next, just past the last line that was examined, or -1 when there is
 *     no more
 * @param missing whose lines could not be had, such as workers that do not answer, with the cause
 * @param positions of an answer to who follows: the id that each store is to be asked for next, by
 *     the name of the store; otherwise empty
 */
public record LogPage(
    List<LogLine> lines, long nextId, List<String> missing, Map<String, Long> positions) {
  /** There is no more. */
  public static final long END = -1;

  public LogPage {
    lines = List.copyOf(lines);
    missing = List.copyOf(missing);
    positions = Map.copyOf(positions);
  }

  /** A page that nobody follows. */
  public LogPage(List<LogLine> lines, long nextId, List<String> missing) {
    this(lines, nextId, missing, Map.of());
  }

  /** A page to which everybody contributed. */
  public LogPage(List<LogLine> lines, long nextId) {
    this(lines, nextId, List.of());
  }
}
