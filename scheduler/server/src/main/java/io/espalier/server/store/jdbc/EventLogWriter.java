package io.espalier.server.store.jdbc;

import io.espalier.core.event.Event;
import io.espalier.core.status.store.StatusStore;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes the event log. Each row contains many events: their first and last sequence, the time of
 * the newest one, and their text. Each call is part of the open transaction. Not thread-safe.
 */
final class EventLogWriter {
  /** The number of event rows that one deletion removes: each may contain thousands of events. */
  private static final int EVENT_ROWS = 20;

  /** The maximum number of events in a row: well below the smallest packet limit of a server. */
  private static final int EVENTS_IN_ROW = 1_000;

  /** The number of characters above which each event gets its own row. */
  private static final int LENGTH_OF_ROW = 1 << 20;

  private final Session session;
  private final BoundStatement insert;
  private long newestEvent = -1;

  EventLogWriter(Session session) throws SQLException {
    this.session = session;
    this.insert = session.insert("INSERT INTO #event", "first, last, newest, body", "");
  }

  /**
   * Appends events.
   *
   * @throws IllegalArgumentException when they are not in order, or not newer than all stored
   *     events
   */
  void append(List<Event> events) throws SQLException {
    if (events.isEmpty()) {
      return;
    }
    newestEvent = JsonCodec.inOrder(events, newestEvent < 0 ? storedNewestEvent() : newestEvent);
    int from = 0;
    while (from < events.size()) {
      int to = from + Math.min(EVENTS_IN_ROW, events.size() - from);
      appendRow(events.subList(from, to));
      from = to;
    }
  }

  private void appendRow(List<Event> events) throws SQLException {
    String body = JsonCodec.body(events);
    if (events.size() > 1 && body.length() > LENGTH_OF_ROW) {
      for (Event event : events) {
        insert(List.of(event), JsonCodec.body(List.of(event)));
      }
    } else {
      insert(events, body);
    }
  }

  private void insert(List<Event> events, String body) throws SQLException {
    Event last = events.get(events.size() - 1);
    int unused =
        insert
            .large(events.get(0).sequence())
            .large(last.sequence())
            .large(last.timeMillis())
            .text(body)
            .run();
  }

  /** Deletes some of the rows outside the retention and returns how many. */
  int deleteOld(StatusStore.Retention retention) throws SQLException {
    long newest = storedNewestEvent();
    long upTo = 0;
    int rows = 0;
    try (BoundStatement oldest =
            session.prepare("SELECT last, newest FROM #event ORDER BY first LIMIT " + EVENT_ROWS);
        ColumnReader row = oldest.query()) {
      while (row.next()) {
        long last = row.large();
        if (!JsonCodec.isOld(last, row.large(), newest, retention)) {
          break;
        }
        upTo = last;
        rows++;
      }
    }
    if (rows > 0) {
      session.execute("DELETE FROM #event WHERE first <= ?", upTo);
    }
    return rows;
  }

  private long storedNewestEvent() throws SQLException {
    String newest = session.ask("SELECT last FROM #event ORDER BY first DESC LIMIT 1");
    return newest == null ? 0 : Long.parseLong(newest);
  }
}
