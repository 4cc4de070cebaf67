package io.espalier.core.running;

import io.espalier.core.config.KillRequest;
import java.util.function.Consumer;

/**
 * Starts and kills tasks.
 *
 * <p>Contract: every {@link #start} is followed by exactly one {@link TaskEnd} for that invocation,
 * whatever happens; failures to start are ends, not exceptions. Calls return without waiting for
 * processes and may come from the scheduler thread only; ends are delivered on any thread.
 */
public interface TaskRunner extends AutoCloseable {
  /** The word of {@code --runner}. */
  String name();

  /** Shown as {@code worker_shard} and {@code worker_host} of the tasks it runs. */
  String shard();

  /**
   * @param ends receives all ends; called before the first start, once
   */
  void open(Consumer<TaskEnd> ends);

  void start(Launch launch);

  /**
   * Asks for a running invocation to be stopped; returns once the request is queued.
   *
   * @return whether this invocation is known and not yet ended
   */
  boolean kill(String job, String node, Invocation invocation, KillRequest how);

  /** Stops all tasks, each in its own way, waits for their ends within its bound, then returns. */
  @Override
  void close();
}
