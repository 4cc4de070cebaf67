package io.espalier.core.scheduling.queue;

import io.espalier.core.config.QueueSpec;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A queue in one scheduling state: its jobs, the slots of their running tasks, and its claim to
 * further starts.
 */
public final class QueueState {
  /**
   * The floor of a queue's usage, a millionth of the tree
   * (docs/design/features.md#shares-of-queues).
   */
  static final double LEAST_PRIORITY = 1e-6;

  public final String name;

  /** The numbers of its jobs, ascending. */
  public final int[] jobs;

  /** The bitmap words that contain its jobs, ascending. */
  public final int[] words;

  /** The bits of its jobs, by position in {@link #words}. */
  public final long[] members;

  /** Slots in use, by resource. */
  public final long[] held;

  public final DecayedUsage usage;
  private QueueSpec spec;
  private QueueLimit[] caps = new QueueLimit[0];
  public int running;

  /** How many tasks of its jobs may run at once; {@link Integer#MAX_VALUE}: any number. */
  private int most = Integer.MAX_VALUE;

  /** The job that had the last turn, or -1. */
  public int last = -1;

  /** The job that its capacity is reserved for, or -1. */
  public int holder = -1;

  /** The number of starts that a policy owes it. */
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

  /** Sets new properties and caps for a queue of the same name. */
  void setSpec(QueueSpec next, QueueLimit[] newCaps) {
    spec = next;
    caps = newCaps;
  }

  void setMost(int tasks) {
    most = tasks;
  }

  /** Returns whether as many tasks run as may. */
  public boolean isFull() {
    return running >= most;
  }

  public QueueLimit[] caps() {
    return caps;
  }

  /** Returns the cap of a resource; null: unlimited. */
  public @Nullable QueueLimit cap(int resource) {
    for (QueueLimit cap : caps) {
      if (cap.resource == resource) {
        return cap;
      }
    }
    return null;
  }

  /** Returns the bits of its jobs that fit under its caps, for a position in {@link #words}. */
  long open(int place) {
    long open = isFull() ? 0 : members[place];
    for (QueueLimit cap : caps) {
      open &= cap.fits(place);
    }
    return open;
  }

  /**
   * Returns the effective priority; a lower value entitles the queue to more.
   *
   * @param byWeight whether weights rather than factors are used
   */
  double effective(long nowMillis, boolean byWeight) {
    if (byWeight) {
      return usage.ahead(nowMillis) / weight();
    }
    return spec.priorityFactor() * Math.max(usage.at(nowMillis), LEAST_PRIORITY);
  }
}
