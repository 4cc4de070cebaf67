package io.espalier.core.running;

/**
 * An operator's word that a worker gets no new tasks. Durable, and about the shard: it outlives the
 * worker's process, so that one can be replaced by the next and tried before it gets work.
 *
 * @param shard of the worker; it need not be there
 * @param operator who said it; empty when nobody had to say
 * @param reason why; may be empty
 * @param sinceMillis epoch milliseconds
 */
public record WorkerCordon(
    String shard, Kind kind, String operator, String reason, long sinceMillis) {

  /** What the operator wants. */
  public enum Kind {
    /** No new tasks. */
    CORDON,
    /** No new tasks, and the worker is to be stopped once it has none. */
    DRAIN
  }
}
