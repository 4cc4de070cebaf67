package io.espalier.worker.agent;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import java.util.List;

/** Limits log pages to what fits into an answer. */
final class LogPages {
  private static final int MOST_CHARACTERS = 8 << 20;

  private LogPages() {}

  /** Returns the same page, or a shortened one with the position at which to continue. */
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
