package io.espalier.worker.agent;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import java.util.List;

/** Pages that fit into an answer. */
final class LogPages {
  private static final int MOST_CHARACTERS = 8 << 20;

  private LogPages() {}

  /** The same page, or as much of it as fits, with where to go on. */
  static LogPage bounded(LogPage page) {
    long size = 0;
    List<LogLine> lines = page.lines();
    for (int i = 0; i < lines.size(); i++) {
      size += 64L + lines.get(i).text().length();
      if (size > MOST_CHARACTERS && i > 0) {
        return new LogPage(lines.subList(0, i), lines.get(i).id());
      }
    }
    return page;
  }
}
