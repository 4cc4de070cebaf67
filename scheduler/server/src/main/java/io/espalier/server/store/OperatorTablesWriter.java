package io.espalier.server.store;

import io.espalier.core.json.JsonWriter;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.StoreTransaction;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;

/**
 * Writes the commands of operators (pauses, cordons, limits) and the states of jobs and queues.
 * These are few rows, so it caches no prepared statements. Each call is part of the open
 * transaction. Not thread-safe.
 */
public final class OperatorTablesWriter {
  /**
   * The statements of a database, with their parameters in the order given here. A statement that
   * ends something takes keys, one that puts something takes whole names, see {@link NameColumns}.
   *
   * @param endPause job
   * @param putPause job, operator, reason, since, until
   * @param endHold shard
   * @param putHold shard, whether it drains, operator, reason, since
   * @param endLimit level, resource, node
   * @param putLimit level, resource, node, slots, author, reason, since, until
   * @param forgetStanding job
   * @param putStanding job, body
   * @param clearQueueUsage no parameters
   * @param putQueueUsage queue (a text), value, as of when
   */
  public record Statements(
      String endPause,
      String putPause,
      String endHold,
      String putHold,
      String endLimit,
      String putLimit,
      String forgetStanding,
      String putStanding,
      String clearQueueUsage,
      String putQueueUsage) {}

  private final Connection connection;
  private final NameColumns names;
  private final Statements statements;

  public OperatorTablesWriter(Connection connection, NameColumns names, Statements statements) {
    this.connection = connection;
    this.names = names;
    this.statements = statements;
  }

  /** Sets the parameters of one row, from left to right. */
  private interface Row<T> {
    void set(T item, Parameters to) throws SQLException;
  }

  /** Deletes the state of a job that no longer exists. */
  public void forgetStanding(String job) throws SQLException {
    execute(statements.forgetStanding(), job, (name, to) -> to.key(name));
  }

  /** Writes these parts of a batch. */
  public void apply(StoreTransaction batch) throws SQLException {
    each(statements.endPause(), batch.endedPauses(), (job, to) -> to.key(job));
    each(statements.putPause(), batch.pauses(), OperatorTablesWriter::set);
    each(statements.endHold(), batch.endedHolds(), (shard, to) -> to.key(shard));
    each(statements.putHold(), batch.holds(), OperatorTablesWriter::set);
    each(
        statements.endLimit(),
        batch.endedLimits(),
        (limit, to) -> to.key(limit.level()).key(limit.resource()).key(limit.node()));
    each(statements.putLimit(), batch.limits(), OperatorTablesWriter::set);
    each(statements.putStanding(), batch.standings(), OperatorTablesWriter::set);
    if (!batch.queueUsage().isEmpty()) {
      execute(statements.clearQueueUsage(), "", (nothing, to) -> {});
    }
    each(statements.putQueueUsage(), batch.queueUsage(), OperatorTablesWriter::set);
  }

  private static void set(Pause pause, Parameters to) throws SQLException {
    to.name(pause.job())
        .value(pause.operator())
        .value(pause.reason())
        .value(pause.sinceMillis())
        .value(pause.untilMillis());
  }

  private static void set(WorkerCordon hold, Parameters to) throws SQLException {
    to.name(hold.shard())
        .value(hold.kind() == WorkerCordon.Kind.DRAIN ? 1 : 0)
        .value(hold.operator())
        .value(hold.reason())
        .value(hold.sinceMillis());
  }

  private static void set(LimitOverride limit, Parameters to) throws SQLException {
    to.name(limit.level())
        .name(limit.resource())
        .name(limit.node())
        .value(limit.limit())
        .value(limit.author())
        .value(limit.reason())
        .value(limit.sinceMillis())
        .value(limit.untilMillis());
  }

  private static void set(JobStateRecord standing, Parameters to) throws SQLException {
    to.name(standing.job()).value(JsonWriter.compact(standing.toJson()));
  }

  private static void set(QueueUsage usage, Parameters to) throws SQLException {
    to.value(usage.queue()).value(usage.value()).value(usage.atMillis());
  }

  private <T> void each(String sql, Collection<T> items, Row<T> row) throws SQLException {
    for (T item : items) {
      execute(sql, item, row);
    }
  }

  private <T> void execute(String sql, T item, Row<T> row) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      row.set(item, new Parameters(statement));
      statement.executeUpdate();
    }
  }

  /** Sets the parameters of a statement one after the other. */
  private final class Parameters {
    private final PreparedStatement statement;
    private int at = 1;

    Parameters(PreparedStatement statement) {
      this.statement = statement;
    }

    Parameters name(String name) throws SQLException {
      names.set(statement, at, name);
      at += names.width();
      return this;
    }

    Parameters key(String name) throws SQLException {
      names.setKey(statement, at++, name);
      return this;
    }

    Parameters value(Object value) throws SQLException {
      statement.setObject(at++, value);
      return this;
    }
  }
}
