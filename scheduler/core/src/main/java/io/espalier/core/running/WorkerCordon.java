package io.espalier.core.running;

/**
 * An operator's cordon: the worker gets no new tasks. It is durable and applies to the shard: it
 * outlives the worker's process, so that the process can be replaced and tested before it gets
 * work.
 *
 * @param shard shard of the worker, which need not exist
 * @param operator the operator; empty when none was given
 * @param reason reason; may be empty
 * @param sinceMillis epoch milliseconds
 */
public record WorkerCordon(
    String shard, Kind kind, String operator, String reason, long sinceMillis) {

  /** The kind of cordon. */
  public enum Kind {
    /** No new tasks. */
    CORDON,
    /** No new tasks, and the worker is to be stopped once it has none. */
    DRAIN
  }
}
