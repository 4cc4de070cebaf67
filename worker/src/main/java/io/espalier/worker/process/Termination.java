package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.CgroupReaper;
import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.kill.KillPlan;
import io.espalier.worker.process.os.Signals;
import io.espalier.worker.process.spawn.ProcessBackend;
import org.jspecify.annotations.Nullable;

/**
 * Ends the processes of one task, and finds out when none is left: sends the signals that were
 * asked for, searches for descendants that a signal to the group does not reach, and watches the
 * control groups until they are empty. A task that was sent a signal ends when a search finds
 * nobody of it. Confined to the supervisor's thread.
 */
final class Termination {
  private static final long FIRST_SWEEP_NANOS = 20_000_000L;
  private static final long LAST_SWEEP_NANOS = 10_000_000_000L;

  private final Listener task;
  private final TaskHost host;
  private final KillPlan plan = new KillPlan();
  private Phase phase = Phase.STARTING;
  private @Nullable TaskGroup group;
  private @Nullable CgroupReaper reaper;
  private ProcessBackend.@Nullable Child child;
  private boolean signalled;
  private boolean stopping;
  private int signalBeforeStart;
  private long sweepNanos = FIRST_SWEEP_NANOS;
  private boolean sweeping;
  private long sweeps;
  private boolean swept;
  private boolean answering;
  private boolean looking;

  private enum Phase {
    STARTING,
    RUNNING,
    /** Its process is gone; descendants may not be. */
    EXITED,
    ENDED
  }

  /** The task whose processes are ended. */
  interface Listener {
    /** Returns what the journal calls it. */
    Journal.Entry entry();

    /** Its control groups are about to be looked at, or removed. */
    void looking();

    /** Its control groups are empty and removed; it may have ended. */
    void reaped();

    /** A search has ended; the task may have, too. */
    void searched();
  }

  Termination(Listener task, TaskHost host) {
    this.task = task;
    this.host = host;
  }

  /** Sets the control groups of the task; before its start. */
  void prepared(TaskGroup made, CgroupReaper watching) {
    group = made;
    reaper = watching;
  }

  /** The process has started; a signal that was asked for before is sent now. */
  void started(ProcessBackend.Child newChild) {
    child = newChild;
    phase = Phase.RUNNING;
    if (signalBeforeStart != 0) {
      signal(signalBeforeStart);
    }
  }

  /** Returns whether a signal of ours, or of the guard, has reached the process. */
  boolean isSignalled() {
    return signalled;
  }

  /** The guard has killed the process, so it is not a failure of the task. */
  void killedByGuard() {
    signalled = true;
    stopping = true;
  }

  /** Stops the task as a request says. */
  void request(KillRequest how) {
    long now = System.nanoTime();
    signal(plan.request(how, now));
    long wait = plan.waitNanos(now);
    if (wait != KillPlan.NEVER) {
      host.after(wait, this::killIfDue);
    }
  }

  private void killIfDue() {
    if (phase != Phase.ENDED) {
      signal(plan.due(System.nanoTime()));
    }
  }

  private void signal(int number) {
    if (number == 0) {
      return;
    }
    if (child == null) {
      // A later TERM must not replace a KILL.
      signalBeforeStart = signalBeforeStart == Signals.KILL ? Signals.KILL : number;
      return;
    }
    signalled |= phase == Phase.RUNNING;
    stopping = true;
    child.signal(number);
    if (number == Signals.KILL && groupKills()) {
      killGroup();
    } else if (phase == Phase.EXITED) {
      sweepNanos = FIRST_SWEEP_NANOS;
      sweep(number);
    }
  }

  /** The process is gone. */
  void exited() {
    phase = Phase.EXITED;
    look();
  }

  /** Searches for what a signal has left, unless control groups find it. */
  void searchIfStopping() {
    if (phase == Phase.EXITED && needsSearch()) {
      search();
    }
  }

  private boolean needsSearch() {
    return stopping && !groupKills();
  }

  /** Kills what is left in our control groups once the process is gone. */
  void killStrays() {
    if (phase == Phase.EXITED && groupKills()) {
      killGroup();
    }
  }

  private void killGroup() {
    if (reaper != null) {
      reaper.kill();
      look();
    }
  }

  private boolean groupKills() {
    return group != null && group.canKill();
  }

  /** Returns whether no process of the task is left; begins to search where that is not known. */
  boolean isComplete() {
    if (reaper != null && !reaper.isOver()) {
      return false;
    }
    boolean known = !needsSearch() || swept;
    if (!known && !answering) {
      search();
    }
    return known;
  }

  /** The task has ended: nothing is signalled or looked at any more. */
  void end() {
    phase = Phase.ENDED;
  }

  /** Checks the control groups repeatedly until they are empty. */
  private void look() {
    CgroupReaper watched = reaper;
    if (watched == null || phase == Phase.ENDED || watched.isOver()) {
      // After the end the groups are gone, and with them their counters.
      return;
    }
    long now = System.nanoTime();
    task.looking();
    long next = phase == Phase.EXITED ? watched.look(now) : watched.step(now);
    if (next == CgroupReaper.OVER) {
      if (watched.isOver() && group != null) {
        host.groupRemoved(group);
        task.reaped();
      }
      return;
    }
    if (!looking) {
      looking = true;
      host.after(
          next,
          () -> {
            looking = false;
            look();
          });
    }
  }

  /** Searches now, and soon again: something has changed. */
  private void search() {
    sweepNanos = FIRST_SWEEP_NANOS;
    sweep(nextSignal());
  }

  /** Returns KILL after a kill; otherwise none: the group has had its TERM, and once. */
  private int nextSignal() {
    return plan.isKilled() ? Signals.KILL : 0;
  }

  /**
   * Signals descendants that left the group or outlive its leader, which a signal to the group does
   * not reach, and looks again after a pause until the task has ended.
   */
  private void sweep(int signal) {
    if (sweeping || phase == Phase.ENDED) {
      return;
    }
    sweeping = true;
    long number = ++sweeps;
    host.sweep(
        task.entry(),
        signal,
        found -> {
          sweeping = false;
          if (phase == Phase.ENDED) {
            return;
          }
          // After a KILL only a search that sent it shows that nobody is left.
          swept = found == 0 && (signal == Signals.KILL || !plan.isKilled());
          // The task asks whether it is complete, which must not lead to the next search at once.
          answering = true;
          task.searched();
          answering = false;
          if (phase != Phase.ENDED) {
            host.after(sweepNanos, () -> sweepAgain(number));
            sweepNanos = Math.min(2 * sweepNanos, LAST_SWEEP_NANOS);
          }
        });
  }

  private void sweepAgain(long after) {
    // A later one has a pause of its own.
    if (after == sweeps) {
      sweep(nextSignal());
    }
  }
}
