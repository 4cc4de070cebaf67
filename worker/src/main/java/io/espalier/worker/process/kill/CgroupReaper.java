package io.espalier.worker.process.kill;

import io.espalier.worker.cgroup.TaskGroup;
import java.io.IOException;
import java.util.List;

/**
 * Waits until the control groups of a task are empty, kills the remaining members where permitted
 * or requested, and removes the groups (docs/design/bistro.md#control-groups). It checks again
 * after {@code poll_ms}, then after intervals that grow fourfold up to ten seconds. It reads no
 * clock and has no thread.
 */
public final class CgroupReaper {
  /** The groups are gone: no further check is needed. */
  public static final long OVER = -1;

  static final long LONGEST_WAIT_NANOS = 10_000_000_000L;

  /** How long a freeze may take before it is given up and tried again. */
  static final long FREEZE_NANOS = 10_000_000_000L;

  private static final long MS = 1_000_000L;

  private final Members members;
  private final long firstWaitNanos;
  private boolean killing;
  private boolean over;
  private boolean freezing;
  private long freezingSince;
  private long waited;
  private long wait;

  /** The part of a {@link TaskGroup} that the reaper needs. */
  interface Members {
    boolean isEmpty();

    TaskGroup.Killing kill() throws IOException;

    void thaw() throws IOException;

    /** Removes the groups and returns the problems. */
    List<String> remove();

    void warn(String what);
  }

  /**
   * @param killsStrays whether remaining members are killed without a request
   */
  public CgroupReaper(Members members, boolean killsStrays, int pollMillis) {
    this.members = members;
    this.killing = killsStrays;
    this.firstWaitNanos = MS * Math.max(1, pollMillis);
    this.wait = firstWaitNanos;
  }

  public boolean isOver() {
    return over;
  }

  /** Requests that members be killed; the caller checks at once. */
  public void kill() {
    killing = true;
    wait = firstWaitNanos;
  }

  /**
   * Kills members if that was requested, while the task's process still lives.
   *
   * @return nanoseconds until the next step, {@link #OVER} when none is needed
   */
  public long step(long nowNanos) {
    if (over || !killing || members.isEmpty()) {
      return OVER;
    }
    return killStep(nowNanos);
  }

  /**
   * Checks the groups after the process has exited.
   *
   * @return nanoseconds until the next check, or {@link #OVER}
   */
  public long look(long nowNanos) {
    if (over) {
      return OVER;
    }
    if (members.isEmpty()) {
      over = true;
      members.remove().forEach(members::warn);
      return OVER;
    }
    if (waited > 0) {
      members.warn("processes are left in its control groups after " + waited / MS + " ms");
    }
    long next = killing ? killStep(nowNanos) : nextWait();
    if (next > 0) {
      waited += next;
    }
    return next;
  }

  private long killStep(long nowNanos) {
    try {
      if (members.kill() == TaskGroup.Killing.FREEZING) {
        if (!freezing) {
          freezing = true;
          freezingSince = nowNanos;
        } else if (nowNanos - freezingSince > FREEZE_NANOS) {
          members.warn("it takes too long to freeze its control group; trying again");
          members.thaw();
          freezing = false;
        }
        return firstWaitNanos;
      }
      freezing = false;
    } catch (IOException e) {
      members.warn("cannot kill what is in its control groups: " + e.getMessage());
    }
    return nextWait();
  }

  private long nextWait() {
    long now = wait;
    wait = Math.min(4 * wait, LONGEST_WAIT_NANOS);
    return now;
  }
}
