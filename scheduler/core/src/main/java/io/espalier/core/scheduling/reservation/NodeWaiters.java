package io.espalier.core.scheduling.reservation;

import java.util.Arrays;

/** The heavy jobs that wait for slots of one node, and the job that the node is reserved for. */
final class NodeWaiters {
  /** A value of {@link #since}: unknown until the clock is set again. */
  static final long UNKNOWN = Long.MAX_VALUE;

  int node;
  int level;

  /** The job that the node is reserved for, or -1. */
  int holder = -1;

  long heldSince;

  /** Since when only the policy or a worker has kept the holder's task from starting. */
  long idleSince;

  /** The index of the node in the list of reserved nodes. */
  int heldAt;

  /** The bits of the jobs that wait. */
  final long[] bits;

  /** The waiting jobs without a timer, because a reservation is useless for them now. */
  final long[] asleep;

  int count;
  int[] jobs = new int[2];

  /** Since when each job has waited, in ms. */
  long[] since = new long[2];

  /** The tick of each job's timer; 0: none. */
  long[] armed = new long[2];

  /** Whether the node is in each job's queue for another reservation. */
  boolean[] queued = new boolean[2];

  NodeWaiters(int words) {
    bits = new long[words];
    asleep = new long[words];
  }

  int find(int job) {
    for (int i = 0; i < count; i++) {
      if (jobs[i] == job) {
        return i;
      }
    }
    return -1;
  }

  int add(int job) {
    if (count == jobs.length) {
      jobs = Arrays.copyOf(jobs, count * 2);
      since = Arrays.copyOf(since, count * 2);
      armed = Arrays.copyOf(armed, count * 2);
      queued = Arrays.copyOf(queued, count * 2);
    }
    bits[job >>> 6] |= 1L << job;
    jobs[count] = job;
    since[count] = UNKNOWN;
    armed[count] = 0;
    queued[count] = false;
    return count++;
  }

  void remove(int i) {
    bits[jobs[i] >>> 6] &= ~(1L << jobs[i]);
    asleep[jobs[i] >>> 6] &= ~(1L << jobs[i]);
    count--;
    jobs[i] = jobs[count];
    since[i] = since[count];
    armed[i] = armed[count];
    queued[i] = queued[count];
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
