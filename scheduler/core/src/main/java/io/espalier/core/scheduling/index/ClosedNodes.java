package io.espalier.core.scheduling.index;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes on which and below which nothing starts, or no task of some jobs, by gates. It is a
 * condition of the index only while a node is closed; otherwise it costs neither memory nor time.
 */
public final class ClosedNodes implements NodeCondition {
  private final StartableIndex index;

  /** Null: no node is closed. */
  private @Nullable BitSet closed;

  /** The jobs for which a node is closed, by node. */
  private final Map<Integer, BitSet> closedJobs = new HashMap<>();

  /** The nodes in {@link #closedJobs}; null: none. */
  private @Nullable BitSet partly;

  public ClosedNodes(StartableIndex index) {
    this.index = index;
  }

  /**
   * Closes or opens a node for all jobs; the index must evaluate the node again.
   *
   * @return whether that is a change
   */
  public boolean set(int node, boolean on) {
    if (on == isClosed(node)) {
      return false;
    }
    boolean wasNeeded = isNeeded();
    closed = with(closed, node, on);
    asked(wasNeeded);
    return true;
  }

  /**
   * Closes or opens a node for one job; the index must evaluate the node again.
   *
   * @return whether that is a change
   */
  public boolean set(int node, int job, boolean on) {
    BitSet jobs = closedJobs.get(node);
    if (on == (jobs != null && jobs.get(job))) {
      return false;
    }
    boolean wasNeeded = isNeeded();
    BitSet after = with(jobs, job, on);
    if (after == null) {
      closedJobs.remove(node);
    } else {
      closedJobs.put(node, after);
    }
    partly = with(partly, node, after != null);
    asked(wasNeeded);
    return true;
  }

  private static @Nullable BitSet with(@Nullable BitSet bits, int bit, boolean on) {
    BitSet after = bits == null ? new BitSet() : bits;
    after.set(bit, on);
    return after.isEmpty() ? null : after;
  }

  private boolean isNeeded() {
    return closed != null || partly != null;
  }

  private void asked(boolean wasNeeded) {
    if (!wasNeeded && isNeeded()) {
      index.add(this);
    } else if (wasNeeded && !isNeeded()) {
      index.remove(this);
    }
  }

  /** Returns whether a node is closed for all jobs. */
  public boolean isClosed(int node) {
    return closed != null && closed.get(node);
  }

  /** Returns whether a node is closed for a job, or for all. */
  public boolean isClosed(int node, int job) {
    return isClosed(node) || isClosedFor(node, job);
  }

  /** Returns whether a node is closed for a job in particular. */
  public boolean isClosedFor(int node, int job) {
    BitSet jobs = partly != null && partly.get(node) ? closedJobs.get(node) : null;
    return jobs != null && jobs.get(job);
  }

  /** Returns whether a node is closed for any job in particular. */
  public boolean isClosedForSome(int node) {
    return partly != null && partly.get(node);
  }

  /**
   * Checks that the index asks this condition exactly while a node is closed.
   *
   * @throws IllegalStateException when it does not
   */
  public void check() {
    boolean isEmpty = closed == null || closed.isEmpty();
    if ((isEmpty && closedJobs.isEmpty()) == index.asks(this)) {
      throw new IllegalStateException("the index asks for closed nodes: " + index.asks(this));
    }
  }

  @Override
  public long mask(int node, int level, int word) {
    if (isClosed(node)) {
      return 0;
    }
    BitSet jobs = partly != null && partly.get(node) ? closedJobs.get(node) : null;
    return jobs == null ? -1L : ~word(jobs, word);
  }

  private static long word(BitSet jobs, int word) {
    long bits = 0;
    int end = (word + 1) << 6;
    for (int job = jobs.nextSetBit(word << 6);
        job >= 0 && job < end;
        job = jobs.nextSetBit(job + 1)) {
      bits |= 1L << job;
    }
    return bits;
  }
}
