package io.espalier.testkit.running;

import io.espalier.core.logs.BoundedRegexSearch;
import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.Redactor;
import java.util.ArrayList;
import java.util.List;

/** Keeps lines in memory without a limit, for tests. Prunes by age only. */
public final class MemoryLogStore implements LogStore {
  private final List<LogLine> lines = new ArrayList<>();
  private long lastId;
  private LogPolicy policy = LogPolicy.NONE;
  private volatile boolean room = true;

  /** Sets whether the store has room from now on. */
  public void setRoom(boolean newRoom) {
    room = newRoom;
  }

  @Override
  public boolean hasRoom() {
    return room;
  }

  @Override
  public synchronized void append(LogEntry entry) {
    lastId = Math.max(lastId + 1, (entry.timeMillis() / 1000) << 32);
    lines.add(LogLine.of(lastId, entry));
    notifyAll();
  }

  @Override
  public synchronized void apply(LogPolicy newPolicy) {
    policy = newPolicy;
  }

  @Override
  public synchronized Redactor redactor(String job) {
    return Redactor.of(policy.patternsOf(job));
  }

  @Override
  public synchronized LogPage query(LogQuery query) {
    BoundedRegexSearch search = new BoundedRegexSearch(query.regex());
    List<LogLine> page = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      LogLine line = lines.get(query.ascending() ? i : lines.size() - 1 - i);
      if (query.wants(line) && search.isIn(line.text())) {
        if (page.size() == query.limit()) {
          return new LogPage(page, line.id());
        }
        page.add(line);
      }
    }
    return new LogPage(page, LogPage.END);
  }

  /** Returns the texts of one node's stream, in order. */
  public synchronized List<String> texts(LogLine.Stream stream, String node) {
    return lines.stream()
        .filter(line -> line.stream() == stream && line.node().equals(node))
        .map(LogLine::text)
        .toList();
  }

  @Override
  public synchronized void prune(long nowMillis) {
    lines.removeIf(line -> line.timeMillis() < policy.of(line.job()).keptSince(nowMillis));
  }

  @Override
  public void close() {}
}
