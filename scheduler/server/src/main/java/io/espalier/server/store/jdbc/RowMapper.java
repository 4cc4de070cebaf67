package io.espalier.server.store.jdbc;

import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.TaskTotals;
import java.sql.SQLException;
import java.util.Map;

/**
 * Converts the rows of any database to values. Each method documents which columns it reads, in
 * order. Thread-safe.
 */
final class RowMapper {
  private static final Invocation UNKNOWN = new Invocation(0, 0, 0);

  private final String store;
  private final JsonDecoder json;
  private final Map<Integer, WorkerRef> workers;

  /**
   * @param store name for messages
   * @param json decodes task data and events
   * @param workers by the numbers that rows use
   */
  RowMapper(String store, JsonDecoder json, Map<Integer, WorkerRef> workers) {
    this.store = store;
    this.json = json;
    this.workers = workers;
  }

  /**
   * Reads a task: node (a name), bits, since, backoff, position, attempts, epoch, sequence,
   * started, data, worker, waited.
   *
   * @throws StoreException not retryable, when the row cannot be read
   */
  StatusRow status(String job, ColumnReader row) throws SQLException {
    return status(job, row.name(), row.number(), row.large(), row);
  }

  /**
   * Reads a task like {@link #status(String, ColumnReader)}, but of a row that is plainly done only
   * the columns up to {@code since}: the others take most of the time.
   */
  StatusRow kept(String job, ColumnReader row) throws SQLException {
    String node = row.name();
    int bits = row.number();
    long since = row.large();
    return bits == TaskStatus.Main.DONE.bit()
        ? new StatusRow(job, node, TaskStatus.ofBits(bits, since, 0, 0, 0, null), UNKNOWN)
        : status(job, node, bits, since, row);
  }

  private StatusRow status(String job, String node, int bits, long since, ColumnReader row)
      throws SQLException {
    int backoff = row.number();
    int position = row.number();
    int attempts = row.number();
    Invocation invocation = new Invocation(row.large(), row.large(), row.large());
    String data = row.textOrNull();
    WorkerRef worker = worker(row.number());
    long waited = row.large();
    try {
      return StatusRow.stored(
          job,
          node,
          invocation,
          worker,
          waited,
          data == null ? null : JsonCodec.object(json, data),
          own -> TaskStatus.ofBits(bits, since, backoff, position, attempts, own));
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
  }

  private WorkerRef worker(int number) {
    WorkerRef worker = workers.get(number);
    if (worker == null) {
      throw new StoreException(store + ": there is no worker " + number, false, null);
    }
    return worker;
  }

  private StoreException damaged(String job, String node, IllegalArgumentException e) {
    return new StoreException(
        store + ", job " + job + ", node " + node + ": " + e.getMessage(), false, e);
  }

  /**
   * Reads totals: number of ended attempts, processor time, ran, waited, counters.
   *
   * @throws StoreException not retryable, when the row cannot be read
   */
  TaskTotals totals(String job, String node, ColumnReader row) throws SQLException {
    try {
      return new TaskTotals(
          row.large(), row.large(), row.large(), row.large(), Counters.ofText(row.textOrEmpty()));
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
  }

  /**
   * Reads an attempt: number, epoch, sequence, started, ended, worker, kind, bits, exit code,
   * signal, core dumped, stop reason, processor time, memory, bytes read, bytes written, message,
   * fingerprint, got on, backoff, waited, start of the process, counters, step.
   *
   * @throws StoreException not retryable, when the row cannot be read
   */
  Attempt attempt(String job, String node, ColumnReader row) throws SQLException {
    try {
      return read(job, node, row);
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
  }

  private Attempt read(String job, String node, ColumnReader row) throws SQLException {
    int number = row.number();
    Invocation invocation = new Invocation(row.large(), row.large(), row.large());
    long ended = row.large();
    WorkerRef worker = worker(row.number());
    TaskResult.Kind kind = TaskResult.Kind.valueOf(row.text());
    int bits = row.number();
    Integer exitCode = row.numberOrNull();
    Integer signal = row.numberOrNull();
    boolean coreDumped = row.flag();
    String reason = row.textOrNull();
    return new Attempt(
        job,
        node,
        number,
        invocation,
        worker,
        ended,
        kind,
        bits,
        exitCode,
        signal,
        coreDumped,
        reason == null ? null : StopReason.valueOf(reason),
        new ResourceUsage(row.large(), row.large(), row.large(), row.large()),
        row.textOrEmpty(),
        row.textOrEmpty(),
        row.flag(),
        row.number(),
        row.large(),
        row.large(),
        Counters.ofText(row.textOrEmpty()),
        row.textOrEmpty());
  }

  /** Reads a pause: job (a name), operator, reason, since, until. */
  static Pause pause(ColumnReader row) throws SQLException {
    return new Pause(row.name(), row.text(), row.text(), row.large(), row.large());
  }

  /** Reads a cordon: shard (a name), whether it drains, operator, reason, since. */
  static WorkerCordon cordon(ColumnReader row) throws SQLException {
    return new WorkerCordon(
        row.name(),
        row.number() == 1 ? WorkerCordon.Kind.DRAIN : WorkerCordon.Kind.CORDON,
        row.text(),
        row.text(),
        row.large());
  }

  /** Reads a limit: level, resource and node (names), slots, author, reason, since, until. */
  static LimitOverride limit(ColumnReader row) throws SQLException {
    return new LimitOverride(
        row.name(),
        row.name(),
        row.name(),
        row.number(),
        row.text(),
        row.text(),
        row.large(),
        row.large());
  }

  /** Reads a brake: target, level and name (names), body. */
  static Brake brake(String store, JsonDecoder json, ColumnReader row) throws SQLException {
    return JsonCodec.brake(store, json, row.name(), row.name(), row.name(), row.text());
  }

  /** Reads a part of a roll-out: job (a name), part, body. */
  static RolloutRow rollout(String store, JsonDecoder json, ColumnReader row) throws SQLException {
    return JsonCodec.rollout(store, json, row.name(), row.number(), row.text());
  }

  /** Reads a notification: notifier (a name), sequence, body. */
  static Notification notification(String store, JsonDecoder json, ColumnReader row)
      throws SQLException {
    return JsonCodec.notification(
        store, json, new Notification.Key(row.name(), row.large()), row.text());
  }

  /** Reads an answer to a request with a key: key, since, body. */
  static KeyedAnswer answer(String store, JsonDecoder json, ColumnReader row) throws SQLException {
    return JsonCodec.answer(store, json, row.text(), row.large(), row.text());
  }

  /** Reads a quarantine: level, node, job, body. */
  static Quarantine quarantine(String store, JsonDecoder json, ColumnReader row)
      throws SQLException {
    return JsonCodec.quarantine(
        store, json, new Quarantine.Key(row.name(), row.name(), row.name()), row.text());
  }

  /** Reads the usage of a queue: its name (a text), the value, as of when. */
  static QueueUsage queueUsage(ColumnReader row) throws SQLException {
    return new QueueUsage(row.text(), row.fraction(), row.large());
  }

  /** Reads the durations of a job: job (a name), done, stopped. */
  static JobDurations durations(ColumnReader row) throws SQLException {
    return new JobDurations(row.name(), row.text(), row.text());
  }

  /** Reads the state of a job: job (a name), body. */
  static JobStateRecord jobState(String store, JsonDecoder json, ColumnReader row)
      throws SQLException {
    return JsonCodec.jobState(store, json, row.name(), row.text());
  }
}
