package io.espalier.core.status.store;

import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The stored row of a task that was tried at least once.
 *
 * @param invocation the last invocation; (epoch, sequence) is its fencing token
 * @param worker worker to which that invocation was sent
 * @param call what that invocation calls, while it runs; null: it has ended, or is a process
 * @param waitedMillis while it runs, how long the task had been eligible before; {@link
 *     Attempt#UNKNOWN_WAIT}: it has ended, or that is not known
 * @param counters what that invocation has counted so far, while it runs; what it counted in all is
 *     in its {@link Attempt}
 * @param batch while it runs, the fencing token of the first task of the batch with whose tasks it
 *     shares a charge; empty: it has ended, or shares none
 */
public record StatusRow(
    String job,
    String node,
    TaskStatus status,
    Invocation invocation,
    WorkerRef worker,
    @Nullable Call call,
    long waitedMillis,
    Counters counters,
    String batch) {
  /** Key of the batch in the data that stores write. */
  private static final String BATCH_KEY = "__espalier_batch";

  /** Key of what the invocation counted in the data that stores write. */
  private static final String COUNT_KEY = "__espalier_count";

  /** Key of the call in the data that stores write. */
  private static final String CALL_KEY = "__espalier_call";

  /** Creates the row of a task that calls no service. */
  public StatusRow(
      String job, String node, TaskStatus status, Invocation invocation, WorkerRef worker) {
    this(job, node, status, invocation, worker, null, Attempt.UNKNOWN_WAIT, Counters.NONE, "");
  }

  /**
   * Creates a row of what is stored.
   *
   * @param data what {@link #storedData} has returned
   * @param statusOf makes the status of its part of the data
   * @throws IllegalArgumentException when the data cannot be read
   */
  public static StatusRow stored(
      String job,
      String node,
      Invocation invocation,
      WorkerRef worker,
      long waitedMillis,
      Json.@Nullable Obj data,
      Function<Json.@Nullable Obj, TaskStatus> statusOf) {
    Json call = data == null ? null : data.get(CALL_KEY);
    Json count = data == null ? null : data.get(COUNT_KEY);
    Json batch = data == null ? null : data.get(BATCH_KEY);
    if (data == null || (call == null && count == null && batch == null)) {
      TaskStatus plain = statusOf.apply(data);
      return new StatusRow(
          job, node, plain, invocation, worker, null, waitedMillis, Counters.NONE, "");
    }
    Json.Obj rest = data.without(CALL_KEY).without(COUNT_KEY).without(BATCH_KEY);
    TaskStatus status = statusOf.apply(rest.isEmpty() ? null : rest);
    return new StatusRow(
        job,
        node,
        status,
        invocation,
        worker,
        call instanceof Json.Obj known ? Call.of(known) : null,
        waitedMillis,
        Counters.of(count),
        batch instanceof Json.Str token ? token.value() : "");
  }

  /** Creates the row of a task that ran on the scheduler's own host. */
  public StatusRow(String job, String node, TaskStatus status, Invocation invocation) {
    this(job, node, status, invocation, WorkerRef.LOCAL);
  }

  /** The data of the status, with call, counters and batch, for stores; null: there are none. */
  public Json.@Nullable Obj storedData() {
    Json.Obj data = status.storedData();
    if (call != null) {
      data = (data == null ? Json.Obj.EMPTY : data).with(CALL_KEY, call.json());
    }
    if (!counters.isEmpty()) {
      data = (data == null ? Json.Obj.EMPTY : data).with(COUNT_KEY, counters.json());
    }
    if (!batch.isEmpty()) {
      data = (data == null ? Json.Obj.EMPTY : data).with(BATCH_KEY, Json.of(batch));
    }
    return data;
  }

  /** The key of the task. */
  public TaskKey key() {
    return new TaskKey(job, node);
  }
}
