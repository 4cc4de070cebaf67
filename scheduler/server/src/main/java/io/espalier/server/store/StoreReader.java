package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Runs the queries of a status database, on connections of its own that never wait for the writing
 * one. This class reads the small tables completely. A subclass for a database names them in {@link
 * Tables}, and reads tasks, histories and events itself.
 *
 * <p>Thread-safe. Every method throws {@link StoreException} when the database cannot be read.
 */
public abstract class StoreReader {
  /**
   * The queries of whole tables, each with the columns that {@link RowMapper} reads.
   *
   * @param jobs the names of jobs with tasks
   * @param incarnations the name and the incarnation of each job whose incarnation is not 0
   * @param newestEvent the sequence of the newest event, or no row
   */
  public record Tables(
      String jobs,
      String incarnations,
      String pauses,
      String standings,
      String holds,
      String limits,
      String queueUsage,
      String newestEvent) {}

  /** Runs one query on a free connection. */
  protected interface Query<T> {
    T on(Connection connection) throws SQLException;
  }

  /** Converts the current row to a value. */
  private interface Row<T> {
    T of(ColumnReader row) throws SQLException;
  }

  /** The name of the store for messages. */
  protected final String store;

  protected final JsonDecoder json;
  private final NameColumns names;
  private final Tables tables;

  /**
   * @param store name for messages
   * @param json decodes task data and events
   */
  protected StoreReader(String store, JsonDecoder json, NameColumns names, Tables tables) {
    this.store = store;
    this.json = json;
    this.names = names;
    this.tables = tables;
  }

  /** Runs a query on a connection and translates its errors. */
  protected abstract <T> T read(Query<T> query);

  /** Returns a reader of the rows, positioned before the first one. */
  protected final ColumnReader columns(ResultSet found) {
    return new ColumnReader(found, names);
  }

  public abstract void load(String job, Consumer<StatusRow> rows);

  public abstract List<StatusRow> load(String job, Collection<String> nodes);

  public abstract List<StatusRow> running();

  public abstract TaskHistory history(String job, String node);

  public abstract List<Event> events(long sequence, int limit);

  /** Closes the connections; no query can run afterwards. */
  public abstract void close();

  public final Set<String> jobs() {
    return new HashSet<>(all(tables.jobs(), ColumnReader::name));
  }

  public final Map<String, Long> incarnations() {
    Map<String, Long> incarnations = new HashMap<>();
    for (Incarnation known :
        all(tables.incarnations(), row -> new Incarnation(row.name(), row.large()))) {
      incarnations.put(known.job(), known.number());
    }
    return incarnations;
  }

  private record Incarnation(String job, long number) {}

  public final List<Pause> pauses() {
    return all(tables.pauses(), RowMapper::pause);
  }

  public final List<JobStateRecord> standings() {
    return all(tables.standings(), row -> RowMapper.standing(store, json, row));
  }

  public final List<WorkerCordon> holds() {
    return all(tables.holds(), RowMapper::hold);
  }

  public final List<LimitOverride> limits() {
    return all(tables.limits(), RowMapper::limit);
  }

  public final List<QueueUsage> queueUsage() {
    return all(tables.queueUsage(), RowMapper::queueUsage);
  }

  public final long newestEvent() {
    return all(tables.newestEvent(), ColumnReader::large).stream().findFirst().orElse(0L);
  }

  private <T> List<T> all(String sql, Row<T> each) {
    return read(
        connection -> {
          List<T> all = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found = statement.executeQuery(sql)) {
            ColumnReader row = columns(found);
            while (row.next()) {
              all.add(each.of(row));
            }
          }
          return all;
        });
  }

  /**
   * Returns the first events after a sequence, from event rows in order.
   *
   * @param bodies one text per row; the first row may contain no requested event
   */
  protected final List<Event> eventsAfter(long sequence, int limit, ColumnReader bodies)
      throws SQLException {
    List<Event> events = new ArrayList<>();
    while (events.size() < limit && bodies.next()) {
      for (Event event : eventsOf(bodies.text())) {
        if (event.sequence() > sequence && events.size() < limit) {
          events.add(event);
        }
      }
    }
    return events;
  }

  private List<Event> eventsOf(String body) {
    try {
      return JsonCodec.events(json, body);
    } catch (IllegalArgumentException e) {
      throw new StoreException(store + ": the event log is damaged", false, e);
    }
  }
}
