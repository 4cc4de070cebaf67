package io.espalier.core.scheduling.queue;

import io.espalier.core.config.QueueSpec;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One queue in one world: its jobs, what their running tasks hold, and what is due to it. */
public final class QueueState {
  /**
   * Use and history below a millionth of the tree count as that much
   * (docs/design/features.md#shares-of-queues).
   */
  static final double LEAST_PRIORITY = 1e-6;

  public final String name;

  /** Numbers of its jobs, ascending. */
  public final int[] jobs;

  /** The words that its jobs are in, ascending. */
  public final int[] words;

  /** Its jobs, by place in {@link #words}. */
  public final long[] members;

  /** Slots held, by resource. */
  public final long[] held;

  public final DecayedUsage usage;
  private QueueSpec spec;
  private QueueLimit[] caps = new QueueLimit[0];
  public int running;

  /** The job whose turn it was last, or -1. */
  public int last = -1;

  /** The job that room is kept for, or -1. */
  public int holder = -1;

  /** What a policy owes it, in starts. */
  public double balance;

  QueueState(QueueSpec spec, int[] jobs, int resources, DecayedUsage usage) {
    this.spec = spec;
    this.name = spec.name();
    this.jobs = jobs;
    this.usage = usage;
    words = Arrays.stream(jobs).map(j -> j >>> 6).distinct().toArray();
    members = new long[words.length];
    for (int j : jobs) {
      members[Arrays.binarySearch(words, j >>> 6)] |= 1L << j;
    }
    held = new long[resources];
  }

  public double weight() {
    return spec.weight().orElse(1);
  }

  public QueueSpec spec() {
    return spec;
  }

  /** Other numbers for a queue of the same name. */
  void setSpec(QueueSpec next, QueueLimit[] newCaps) {
    spec = next;
    caps = newCaps;
  }

  public QueueLimit[] caps() {
    return caps;
  }

  /** Null: it may hold all it wants of the resource. */
  public @Nullable QueueLimit cap(int resource) {
    for (QueueLimit cap : caps) {
      if (cap.resource == resource) {
        return cap;
      }
    }
    return null;
  }

  /** Bits of its jobs that its caps leave room for, in its word of that place. */
  long open(int place) {
    long open = members[place];
    for (QueueLimit cap : caps) {
      open &= cap.fits(place);
    }
    return open;
  }

  /**
   * The effective priority: the lower, the more is due to it.
   *
   * @param byWeight whether weights decide, and not factors
   */
  double effective(long nowMillis, boolean byWeight) {
    if (byWeight) {
      return usage.ahead(nowMillis) / weight();
    }
    return spec.priorityFactor() * Math.max(usage.at(nowMillis), LEAST_PRIORITY);
  }
}
