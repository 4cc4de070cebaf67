package io.espalier.worker.process.spawn;

import com.sun.jna.Memory;
import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.process.os.Libc;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Waits on one thread for the ends of all children, so that no task needs a descriptor for that
 * (docs/adr/0009-processes.md). It also sees children of the JDK and of other libraries in this
 * process, and leaves these to their owners: it only peeks ({@code WNOWAIT}) until it knows whose
 * child has ended.
 */
final class ChildReaper implements AutoCloseable {
  private static final long FIRST_PAUSE_NANOS = 50_000;
  private static final long LAST_PAUSE_NANOS = 20_000_000;

  /**
   * The pause from which on our children are checked one by one: a foreign child that stays
   * uncollected that long may hide ends of ours.
   */
  private static final long SWEEP_PAUSE_NANOS = 5_000_000;

  private static final int PID_OFFSET = 16;
  private static final int KIB = 1024;
  private static final int BLOCK = 512;

  private final Map<Integer, Child> children = new ConcurrentHashMap<>();
  private final Memory info = NativeSpawner.zeroed(128);
  private final Memory status = NativeSpawner.zeroed(8);
  private final Memory usage = NativeSpawner.zeroed(256);
  private final Thread thread;
  private volatile boolean closed;
  private long ourPeak;

  /** A started child. */
  interface Child {
    /**
     * Collects the child by calling the function with its pid; it must not be signalled afterwards.
     */
    void collect(IntFunction<ProcessBackend.Exit> wait);
  }

  ChildReaper() {
    thread = new Thread(this::run, "task-reaper");
    thread.setDaemon(true);
    thread.start();
  }

  /** Registers a child, whose end is reported from now on, even if it has ended already. */
  void add(int pid, Child child) {
    children.put(pid, child);
    LockSupport.unpark(thread);
  }

  private void run() {
    long pause = FIRST_PAUSE_NANOS;
    while (!closed) {
      info.clear();
      int result = Libc.waitid(Libc.P_ALL, 0, info, Libc.WEXITED | Libc.WNOWAIT);
      if (result < 0) {
        if (Libc.errno() == Libc.ECHILD && !closed) {
          // There is no child to wait for. A start wakes this thread up.
          LockSupport.park(this);
        }
        continue;
      }
      int pid = info.getInt(PID_OFFSET);
      Child child = children.remove(pid);
      if (child != null) {
        child.collect(this::collect);
        pause = FIRST_PAUSE_NANOS;
        continue;
      }
      // A foreign child, or one whose start is not registered yet. Its owner will collect it soon.
      LockSupport.parkNanos(this, pause);
      pause = Math.min(2 * pause, LAST_PAUSE_NANOS);
      if (pause > SWEEP_PAUSE_NANOS) {
        sweep();
      }
    }
  }

  private void sweep() {
    for (int pid : List.copyOf(children.keySet())) {
      info.clear();
      boolean over =
          Libc.waitid(Libc.P_PID, pid, info, Libc.WEXITED | Libc.WNOWAIT | Libc.WNOHANG) == 0
              && info.getInt(PID_OFFSET) == pid;
      Child child = over ? children.remove(pid) : null;
      if (child != null) {
        child.collect(this::collect);
      }
    }
  }

  private ProcessBackend.Exit collect(int pid) {
    usage.clear();
    int result;
    do {
      result = Libc.wait4(pid, status, 0, usage);
    } while (result < 0 && Libc.errno() == Libc.EINTR);
    if (result != pid) {
      // Somebody else has collected the child, which nobody should.
      return new ProcessBackend.Exit(null, Signals.KILL, false, ResourceUsage.UNKNOWN);
    }
    int word = status.getInt(0);
    int signal = word & 0x7f;
    ResourceUsage used = usage();
    return signal == 0
        ? new ProcessBackend.Exit(word >> 8 & 0xff, null, false, used)
        : new ProcessBackend.Exit(null, signal, (word & 0x80) != 0, used);
  }

  private ResourceUsage usage() {
    long micros =
        1_000_000 * (usage.getLong(0) + usage.getLong(16)) + usage.getLong(8) + usage.getLong(24);
    long peak = usage.getLong(32) * KIB;
    // Until its exec a child shares our memory, and the kernel counts that as the child's.
    if (peak > ourPeak) {
      ourPeak = ProcFs.peakMemory("self");
    }
    if (peak <= ourPeak) {
      peak = ResourceUsage.UNKNOWN_AMOUNT;
    }
    return new ResourceUsage(
        micros / 1000, peak, usage.getLong(88) * BLOCK, usage.getLong(96) * BLOCK);
  }

  /**
   * Ends the reaper. The thread ends with the next end of any child of this process; nothing waits
   * for it.
   */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
