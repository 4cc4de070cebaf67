package io.espalier.core.logs;

import java.util.List;

/**
 * Lines and where to go on.
 *
 * @param nextId id to ask for next, or -1 when there is no more
 */
public record LogPage(List<LogLine> lines, long nextId) {
  public LogPage {
    lines = List.copyOf(lines);
  }
}
