package io.espalier.worker.process;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds and kills what is alive of given invocations: the process that was started, if number and
 * start time agree; what is in its group or session; and whatever has the cookie of the run and the
 * invocation in its environment, also after a double fork.
 *
 * <p>Not found is a process that has left the session <em>and</em> replaced its environment.
 */
final class Survivors {
  static final String COOKIE_VARIABLE = "ESPALIER_TASK_COOKIE";
  static final String INVOCATION_VARIABLE = "ESPALIER_TASK_INVOCATION";

  private Survivors() {}

  /**
   * Kills until nothing is found.
   *
   * @return how many processes were killed
   * @throws IOException when something is still alive after {@code bound}
   */
  static int killAll(Journal.Left left, Duration bound) throws IOException {
    if (left.entries().isEmpty() || !left.bootId().equals(ProcFs.bootId())) {
      return 0;
    }
    long deadline = System.nanoTime() + bound.toNanos();
    Set<Long> killed = new HashSet<>();
    while (true) {
      Set<Long> alive = find(left);
      if (alive.isEmpty()) {
        return killed.size();
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
            "processes of tasks that an earlier run left behind do not die: " + alive);
      }
      for (long pid : alive) {
        killed.add(pid);
        Signals.process(pid, KillPlan.KILL);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while processes of an earlier run are killed", e);
      }
    }
  }

  /** Pids of all live processes of these invocations. */
  static Set<Long> find(Journal.Left left) {
    Map<Long, Journal.Entry> leaders = new HashMap<>();
    Set<String> invocations = new HashSet<>();
    for (Journal.Entry entry : left.entries()) {
      invocations.add(entry.invocation());
      if (entry.pid() > 0) {
        leaders.put(entry.pid(), entry);
      }
    }
    List<ProcFs.Stat> processes =
        ProcFs.pids().stream().flatMap(pid -> ProcFs.stat(pid).stream()).toList();
    Set<Long> found = new HashSet<>();
    Set<Long> strangers = new HashSet<>();
    for (ProcFs.Stat process : processes) {
      Journal.Entry entry = leaders.get(process.pid());
      if (entry != null && entry.startTicks() != process.startTicks()) {
        strangers.add(process.pid());
      } else if (entry != null && process.isAlive()) {
        found.add(process.pid());
      }
    }
    for (ProcFs.Stat process : processes) {
      if (process.isAlive()
          && (isOf(process, process.group(), leaders, strangers)
              || isOf(process, process.session(), leaders, strangers)
              || hasCookie(process.pid(), left.cookie(), invocations))) {
        found.add(process.pid());
      }
    }
    return found;
  }

  /** A number of a group or session cannot be given away while it has members. */
  private static boolean isOf(
      ProcFs.Stat process, long number, Map<Long, Journal.Entry> leaders, Set<Long> strangers) {
    Journal.Entry entry = leaders.get(number);
    return entry != null
        && !strangers.contains(number)
        && process.startTicks() >= entry.startTicks();
  }

  private static boolean hasCookie(long pid, String cookie, Set<String> invocations) {
    if (cookie.isEmpty()) {
      return false;
    }
    String environment = ProcFs.environment(pid);
    if (!environment.contains(COOKIE_VARIABLE + "=" + cookie)) {
      return false;
    }
    String prefix = INVOCATION_VARIABLE + "=";
    for (String variable : environment.split("\0", -1)) {
      if (variable.startsWith(prefix)) {
        return invocations.contains(variable.substring(prefix.length()));
      }
    }
    return false;
  }
}
