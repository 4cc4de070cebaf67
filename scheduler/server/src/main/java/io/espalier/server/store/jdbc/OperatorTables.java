package io.espalier.server.store.jdbc;

import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.StoreTransaction;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/**
 * Writes the commands of operators (pauses, cordons, limits, brakes, quarantines), roll-outs, the
 * states of jobs and queues, notifications, and answers to requests with a key. These are few rows,
 * so it caches no prepared statements. Each call is part of the open transaction. Not thread-safe.
 */
final class OperatorTables {
  private final Session session;

  OperatorTables(Session session) {
    this.session = session;
  }

  /** Sets the parameters of one row, from left to right. */
  private interface Row<T> {
    void set(T item, BoundStatement to) throws SQLException;
  }

  /** Deletes the state and durations of a job that no longer exists. */
  void forgetStanding(String job) throws SQLException {
    delete("#job_standing WHERE job = ?", List.of(job), (name, to) -> to.key(name));
    delete("#duration WHERE job = ?", List.of(job), (name, to) -> to.key(name));
  }

  /** Writes these parts of a batch. */
  void apply(StoreTransaction batch) throws SQLException {
    delete("#pause WHERE job = ?", batch.pauses().removed(), (job, to) -> to.key(job));
    replace(
        "#pause",
        "job*, operator, reason, since, {until}",
        batch.pauses().rows(),
        (pause, to) ->
            to.name(pause.job())
                .value(pause.operator())
                .value(pause.reason())
                .value(pause.sinceMillis())
                .value(pause.untilMillis()));
    delete("#worker_hold WHERE shard = ?", batch.cordons().removed(), (shard, to) -> to.key(shard));
    replace(
        "#worker_hold",
        "shard*, drain, operator, reason, since",
        batch.cordons().rows(),
        (hold, to) ->
            to.name(hold.shard())
                .value(hold.kind() == WorkerCordon.Kind.DRAIN ? 1 : 0)
                .value(hold.operator())
                .value(hold.reason())
                .value(hold.sinceMillis()));
    delete(
        "#limit_override WHERE level = ? AND resource = ? AND node = ?",
        batch.limits().removed(),
        (limit, to) -> to.key(limit.level()).key(limit.resource()).key(limit.node()));
    replace(
        "#limit_override",
        "level*, resource*, node*, slots, author, reason, since, ends",
        batch.limits().rows(),
        (limit, to) ->
            to.name(limit.level())
                .name(limit.resource())
                .name(limit.node())
                .value(limit.limit())
                .value(limit.author())
                .value(limit.reason())
                .value(limit.sinceMillis())
                .value(limit.untilMillis()));
    delete(
        "#brake WHERE target = ? AND level = ? AND name = ?",
        batch.brakes().removed(),
        (brake, to) -> to.key(brake.target().word()).key(brake.level()).key(brake.name()));
    replace(
        "#brake",
        "target*, level*, name*, body",
        batch.brakes().rows(),
        (brake, to) ->
            to.name(brake.key().target().word())
                .name(brake.key().level())
                .name(brake.key().name())
                .value(JsonWriter.compact(brake.toJson())));
    delete(
        "#quarantine WHERE level = ? AND node = ? AND job = ?",
        batch.quarantines().removed(),
        (key, to) -> to.key(key.level()).key(key.node()).key(key.job()));
    replace(
        "#quarantine",
        "level*, node*, job*, body",
        batch.quarantines().rows(),
        (each, to) ->
            to.name(each.key().level())
                .name(each.key().node())
                .name(each.key().job())
                .value(JsonWriter.compact(each.toJson())));
    delete("#rollout WHERE job = ?", batch.endedRollouts(), (job, to) -> to.key(job));
    replace(
        "#rollout",
        "job*, part, body",
        batch.rollouts(),
        (row, to) -> to.name(row.job()).value(row.part()).value(JsonWriter.compact(row.body())));
    delete(
        "#notification WHERE notifier = ? AND sequence = ?",
        batch.notifications().removed(),
        (key, to) -> to.key(key.notifier()).value(key.sequence()));
    replace(
        "#notification",
        "notifier*, sequence, body",
        batch.notifications().rows(),
        (each, to) ->
            to.name(each.notifier())
                .value(each.sequence())
                .value(JsonWriter.compact(each.toJson())));
    delete("#answer WHERE request = ?", batch.answers().removed(), (key, to) -> to.value(key));
    replace(
        "#answer",
        "request, since, body",
        batch.answers().rows(),
        (each, to) ->
            to.value(each.key()).value(each.sinceMillis()).value(JsonWriter.compact(each.body())));
    replace(
        "#job_standing",
        "job*, body",
        batch.jobStates(),
        (standing, to) -> to.name(standing.job()).value(JsonWriter.compact(standing.toJson())));
    replace(
        "#duration",
        "job*, done, stopped",
        batch.durations(),
        (each, to) -> to.name(each.job()).value(each.done()).value(each.stopped()));
    if (!batch.queueUsage().isEmpty()) {
      int unused = session.execute("DELETE FROM #queue_usage");
    }
    replace(
        "#queue_usage",
        "queue, value, at",
        batch.queueUsage(),
        (usage, to) -> to.value(usage.queue()).value(usage.value()).value(usage.atMillis()));
  }

  private <T> void delete(String where, Collection<T> items, Row<T> row) throws SQLException {
    if (!items.isEmpty()) {
      each(session.prepare("DELETE FROM " + where), items, row);
    }
  }

  private <T> void replace(String table, String columns, Collection<T> items, Row<T> row)
      throws SQLException {
    if (!items.isEmpty()) {
      each(session.insert("REPLACE INTO " + table, columns, ""), items, row);
    }
  }

  private static <T> void each(BoundStatement statement, Collection<T> items, Row<T> row)
      throws SQLException {
    try (statement) {
      for (T item : items) {
        row.set(item, statement);
        int unused = statement.run();
      }
    }
  }
}
