package io.espalier.core.scheduling.reservation;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The heavy jobs that wait for slots of one node, and the job that the node is reserved for. */
final class NodeWaiters {
  int node;
  int level;

  /** The wait that the node is reserved for. */
  @Nullable Wait holder;

  /** The bits of the jobs that wait. */
  final long[] bits;

  /** The waiting jobs without a timer, because a reservation is useless for them now. */
  final long[] asleep;

  /** Unordered. */
  final List<Wait> waits = new ArrayList<>(2);

  NodeWaiters(int words) {
    bits = new long[words];
    asleep = new long[words];
  }

  @Nullable Wait find(int job) {
    for (int i = 0; has(job) && i < waits.size(); i++) {
      if (waits.get(i).job == job) {
        return waits.get(i);
      }
    }
    return null;
  }

  Wait add(int job) {
    bits[job >>> 6] |= 1L << job;
    Wait wait = new Wait(job, node);
    waits.add(wait);
    return wait;
  }

  void remove(Wait wait) {
    bits[wait.job >>> 6] &= ~(1L << wait.job);
    setAsleep(wait.job, false);
    int i = waits.indexOf(wait);
    Wait last = waits.remove(waits.size() - 1);
    if (last != wait) {
      waits.set(i, last);
    }
  }

  boolean has(int job) {
    return (bits[job >>> 6] & 1L << job) != 0;
  }

  boolean isAsleep(int job) {
    return (asleep[job >>> 6] & 1L << job) != 0;
  }

  void setAsleep(int job, boolean on) {
    if (on) {
      asleep[job >>> 6] |= 1L << job;
    } else {
      asleep[job >>> 6] &= ~(1L << job);
    }
  }
}
