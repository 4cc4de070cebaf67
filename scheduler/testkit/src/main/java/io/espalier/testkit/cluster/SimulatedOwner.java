package io.espalier.testkit.cluster;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The row of a store that names its owner, where there is no election. The owner changes it with
 * each proof. Another scheduler takes it once it has seen it unchanged for as long as a proof is
 * good, by its own clock; nobody looks at the time of the store.
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
   * Proves ownership, or takes it when it may.
   *
   * @return the session of the owner, another one with each change of owners; 0: it is another's
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
