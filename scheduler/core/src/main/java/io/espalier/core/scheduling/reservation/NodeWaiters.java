package io.espalier.core.scheduling.reservation;

import java.util.Arrays;

/** The heavy jobs that wait for slots of one node, and the one it is kept free for. */
final class NodeWaiters {
  /** Of {@link #since}: not known before the next look at the clock. */
  static final long UNKNOWN = Long.MAX_VALUE;

  int node;
  int level;

  /** The job that the node is kept free for, or -1. */
  int holder = -1;

  long heldSince;

  /** Since when nothing but the policy or a worker keeps the holder's task. */
  long idleSince;

  /** Its place in the list of all that are held. */
  int heldAt;

  /** Bits of the jobs that wait. */
  final long[] bits;

  /** Those that no timer looks after, as nothing can come of it now. */
  final long[] asleep;

  int count;
  int[] jobs = new int[2];

  /** Since when it waits, in ms. */
  long[] since = new long[2];

  /** The tick of the timer that counts; 0: none. */
  long[] armed = new long[2];

  /** Whether it stands in the line of its job. */
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
