package io.espalier.server.store.jdbc;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maps the jobs of a store to the numbers that rows use, on the connection that writes. A forgotten
 * job loses its name at once and keeps its number until its rows are deleted. Not thread-safe.
 */
final class JobIds {
  private final Session session;
  private final Map<String, Integer> numbers = new HashMap<>();

  JobIds(Session session) {
    this.session = session;
  }

  /** Returns the number of a job and assigns one if necessary. */
  int number(String job) throws SQLException {
    Integer number = known(job);
    if (number == null) {
      try (BoundStatement add = session.prepare(session.dialect().addJob())) {
        int unused = add.name(job).run();
      }
      number = known(job);
    }
    if (number == null) {
      throw new SQLException("a job that was added is not there");
    }
    return number;
  }

  /** Returns the number of a job; null when it has none. */
  @Nullable Integer known(String job) throws SQLException {
    Integer cached = numbers.get(job);
    if (cached == null) {
      cached = find(session, job);
      if (cached != null) {
        numbers.put(job, cached);
      }
    }
    return cached;
  }

  /** Returns the number of a job, as any connection sees it; null when it has none. */
  static @Nullable Integer find(Session session, String job) throws SQLException {
    try (BoundStatement find = session.prepare("SELECT id FROM #job WHERE name = ?");
        ColumnReader found = find.key(job).query()) {
      return found.next() ? found.numberOrNull() : null;
    }
  }

  void setIncarnation(String job, long incarnation) throws SQLException {
    session.execute("UPDATE #job SET incarnation = ? WHERE id = ?", incarnation, number(job));
  }

  void forget(String job) throws SQLException {
    for (String sql : session.dialect().forgetJob()) {
      try (BoundStatement statement = session.prepare(sql)) {
        int unused = statement.key(job).run();
      }
    }
    numbers.remove(job);
  }
}
