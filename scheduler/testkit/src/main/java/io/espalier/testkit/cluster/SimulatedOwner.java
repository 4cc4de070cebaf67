package io.espalier.testkit.cluster;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The row of a store that names its owner, for schedulers without an election. The owner updates it
 * with each proof. Another scheduler takes it once it has seen the row unchanged for the validity
 * of a proof, by its own clock; the time of the store is never used.
 */
final class SimulatedOwner {
  private final SimulatedCluster cluster;
  private final Map<SimulatedScheduler, Seen> seen = new HashMap<>();
  private @Nullable SimulatedScheduler owner;
  private long session;
  private long beat;

  private record Seen(long beat, long since) {}

  SimulatedOwner(SimulatedCluster cluster) {
    this.cluster = cluster;
  }

  /**
   * Proves ownership, or takes it when permitted.
   *
   * @return session of the owner, which changes with each new owner; 0: another scheduler owns the
   *     store
   */
  long acquire(SimulatedScheduler by) {
    if (owner != by) {
      if (owner != null && !mayTake(by)) {
        return 0;
      }
      if (owner != null) {
        cluster.coverage.happened(SimulationEvent.STORE_CHANGED_OWNER);
      }
      owner = by;
      session++;
    }
    seen.clear();
    beat++;
    return session;
  }

  private boolean mayTake(SimulatedScheduler by) {
    if (cluster.has(ProtocolBug.OWNER_UNPROVED)) {
      return !by.isLeading();
    }
    Seen before = seen.get(by);
    if (before == null || before.beat() != beat || by.isNewSince(before.since())) {
      seen.put(by, new Seen(beat, by.proofNow()));
      return false;
    }
    return by.proofNow() - before.since() >= SimulatedCluster.LOCK_MILLIS * 102 / 100;
  }
}
