package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.status.StatusStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes the event log of a database. Each row contains many events: their first and last sequence,
 * the time of the newest one, and their text. Each call is part of the open transaction. Not
 * thread-safe.
 */
public final class EventLogWriter {
  /** The number of event rows that one deletion removes: each may contain thousands of events. */
  private static final int EVENT_ROWS = 20;

  private final Connection connection;
  private final String table;
  private final int eventsInRow;
  private final int lengthOfRow;
  private long newestEvent = -1;

  /**
   * @param table with the columns {@code first}, {@code last}, {@code newest} and {@code body}
   * @param eventsInRow maximum number of events in a row
   * @param lengthOfRow number of characters above which each event gets its own row
   */
  public EventLogWriter(Connection connection, String table, int eventsInRow, int lengthOfRow) {
    this.connection = connection;
    this.table = table;
    this.eventsInRow = eventsInRow;
    this.lengthOfRow = lengthOfRow;
  }

  /**
   * Appends events.
   *
   * @throws IllegalArgumentException when they are not in order, or not newer than all stored
   *     events
   */
  public void append(List<Event> events) throws SQLException {
    if (events.isEmpty()) {
      return;
    }
    long newest = JsonCodec.inOrder(events, newestEvent < 0 ? storedNewestEvent() : newestEvent);
    newestEvent = newest;
    int from = 0;
    while (from < events.size()) {
      int to = from + Math.min(eventsInRow, events.size() - from);
      appendRow(events.subList(from, to));
      from = to;
    }
  }

  private void appendRow(List<Event> events) throws SQLException {
    String body = JsonCodec.body(events);
    if (events.size() > 1 && body.length() > lengthOfRow) {
      for (Event event : events) {
        insert(List.of(event), JsonCodec.body(List.of(event)));
      }
    } else {
      insert(events, body);
    }
  }

  private void insert(List<Event> events, String body) throws SQLException {
    Event last = events.get(events.size() - 1);
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO " + table + " (first, last, newest, body) VALUES (?, ?, ?, ?)")) {
      insert.setLong(1, events.get(0).sequence());
      insert.setLong(2, last.sequence());
      insert.setLong(3, last.timeMillis());
      insert.setString(4, body);
      insert.executeUpdate();
    }
  }

  /** Deletes some of the rows outside the retention and returns how many. */
  public int deleteOld(StatusStore.Retention retention) throws SQLException {
    long newest = storedNewestEvent();
    long upTo = 0;
    int rows = 0;
    try (PreparedStatement oldest =
        connection.prepareStatement(
            "SELECT last, newest FROM " + table + " ORDER BY first LIMIT ?")) {
      oldest.setInt(1, EVENT_ROWS);
      try (ResultSet found = oldest.executeQuery()) {
        while (found.next()
            && JsonCodec.isOld(found.getLong(1), found.getLong(2), newest, retention)) {
          upTo = found.getLong(1);
          rows++;
        }
      }
    }
    if (rows > 0) {
      try (PreparedStatement delete =
          connection.prepareStatement("DELETE FROM " + table + " WHERE first <= ?")) {
        delete.setLong(1, upTo);
        delete.executeUpdate();
      }
    }
    return rows;
  }

  private long storedNewestEvent() throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT last FROM " + table + " ORDER BY first DESC LIMIT 1");
        ResultSet found = statement.executeQuery()) {
      return found.next() ? found.getLong(1) : 0;
    }
  }
}
