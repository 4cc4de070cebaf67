package io.espalier.core.running;

/**
 * Identifies one process that runs tasks. After a restart it has the same shard and another
 * instance.
 *
 * @param shard name by which it is known and may be replaced
 * @param instance random number, drawn when the process starts; 0 for {@link #LOCAL}
 */
public record WorkerRef(String shard, long instance) {
  /** The scheduler's own process, or an unknown one. */
  public static final WorkerRef LOCAL = new WorkerRef("", 0);

  /** Returns true for the scheduler's own process. */
  public boolean isLocal() {
    return shard.isEmpty();
  }
}
