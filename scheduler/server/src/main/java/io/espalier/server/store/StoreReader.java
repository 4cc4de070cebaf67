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
 * What is asked of a database with statuses, on connections of its own that never wait for the one
 * that writes. The small tables are read here, whole; a database says in {@link Tables} how it
 * names them, and reads tasks, histories and events in its own way.
 *
 * <p>Thread-safe. Every method throws {@link StoreException} when the database cannot be read.
 */
public abstract class StoreReader {
  /**
   * The queries of whole tables, each with the columns that {@link RowMapper} takes.
   *
   * @param jobs the names of those that have tasks
   * @param incarnations the name of a job and its incarnation, where that is not 0
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

  /** Asks one thing, on a connection that is free. */
  protected interface Query<T> {
    T on(Connection connection) throws SQLException;
  }

  /** Makes a value of the row that was found. */
  private interface Row<T> {
    T of(ColumnReader row) throws SQLException;
  }

  /** For messages. */
  protected final String store;

  protected final JsonDecoder json;
  private final NameColumns names;
  private final Tables tables;

  /**
   * @param store for messages
   * @param json reads task data and events back
   */
  protected StoreReader(String store, JsonDecoder json, NameColumns names, Tables tables) {
    this.store = store;
    this.json = json;
    this.names = names;
    this.tables = tables;
  }

  /** Lends a connection to a query, and says what its errors mean. */
  protected abstract <T> T read(Query<T> query);

  /** The rows of an answer, from before the first one. */
  protected final ColumnReader columns(ResultSet found) {
    return new ColumnReader(found, names);
  }

  public abstract void load(String job, Consumer<StatusRow> rows);

  public abstract List<StatusRow> load(String job, Collection<String> nodes);

  public abstract List<StatusRow> running();

  public abstract TaskHistory history(String job, String node);

  public abstract List<Event> events(long sequence, int limit);

  /** Gives the connections back; nothing can be asked after it. */
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
   * The first events after a sequence, of rows of events in their order.
   *
   * @param bodies one text a row: the first row may hold nothing that is asked for
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
