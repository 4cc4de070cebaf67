package io.espalier.testkit.running;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import java.util.ArrayList;
import java.util.List;

/** Keeps lines in memory, without a bound; for tests. */
public final class MemoryLogStore implements LogStore {
  private final List<LogLine> lines = new ArrayList<>();
  private long lastId;

  @Override
  public synchronized void append(
      LogLine.Stream stream, String job, String node, long timeMillis, String text) {
    lastId = Math.max(lastId + 1, (timeMillis / 1000) << 32);
    lines.add(new LogLine(lastId, stream, job, node, timeMillis, text));
    notifyAll();
  }

  @Override
  public synchronized LogPage query(LogQuery query) {
    List<LogLine> page = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      LogLine line = lines.get(query.ascending() ? i : lines.size() - 1 - i);
      if (matches(line, query)) {
        if (page.size() == query.limit()) {
          return new LogPage(page, line.id());
        }
        page.add(line);
      }
    }
    return new LogPage(page, -1);
  }

  private static boolean matches(LogLine line, LogQuery query) {
    return line.stream() == query.stream()
        && (query.jobs().isEmpty() || query.jobs().contains(line.job()))
        && (query.nodes().isEmpty() || query.nodes().contains(line.node()))
        && (query.from() < 0
            || (query.ascending() ? line.id() >= query.from() : line.id() <= query.from()))
        && (query.regex() == null || query.regex().matcher(line.text()).find());
  }

  /** The texts of one node's stream, in order. */
  public synchronized List<String> texts(LogLine.Stream stream, String node) {
    return lines.stream()
        .filter(line -> line.stream() == stream && line.node().equals(node))
        .map(LogLine::text)
        .toList();
  }

  @Override
  public synchronized void prune(long beforeMillis) {
    lines.removeIf(line -> line.timeMillis() < beforeMillis);
  }

  @Override
  public void close() {}
}
