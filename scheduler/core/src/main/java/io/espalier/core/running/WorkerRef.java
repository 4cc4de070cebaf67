package io.espalier.core.running;

/**
 * One process that runs tasks. Restarted, it is the same shard and another instance.
 *
 * @param shard the name under which it is known and may be replaced
 * @param instance random, drawn when the process starts; 0 for {@link #LOCAL}
 */
public record WorkerRef(String shard, long instance) {
  /** The scheduler's own process, or not known. */
  public static final WorkerRef LOCAL = new WorkerRef("", 0);

  /** Whether it is the scheduler's own process. */
  public boolean isLocal() {
    return shard.isEmpty();
  }
}
