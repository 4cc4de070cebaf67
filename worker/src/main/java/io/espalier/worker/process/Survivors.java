package io.espalier.worker.process;

import io.espalier.worker.cgroup.TaskGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger log = LoggerFactory.getLogger(Survivors.class);

  private Survivors() {}

  /**
   * Kills until nothing is found, then removes the control groups.
   *
   * @return what was found
   * @throws IOException when something is still alive after {@code bound}
   */
  static Recovery killAll(Journal.Left left, Duration bound) throws IOException {
    List<String> invocations = left.entries().stream().map(Journal.Entry::invocation).toList();
    if (!left.bootId().equals(ProcFs.bootId())) {
      // The machine has been restarted since.
      return new Recovery(invocations, 0, 0);
    }
    TaskGroup groups = TaskGroup.existing(left.groups());
    if (invocations.isEmpty() && groups.paths().isEmpty()) {
      return Recovery.NOTHING;
    }
    long deadline = System.nanoTime() + bound.toNanos();
    Set<Long> killed = new HashSet<>();
    while (true) {
      Set<Long> alive = new TreeSet<>(find(left).keySet());
      alive.addAll(groups.pids());
      // A process that has exited and that nobody collects stays in its group.
      alive.removeIf(pid -> ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isEmpty());
      if (alive.isEmpty()) {
        break;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
            "processes of tasks that an earlier run left behind do not die: " + alive);
      }
      killed.addAll(alive);
      for (Path path : groups.paths()) {
        TaskGroup.Killing unused = TaskGroup.existing(List.of(path)).kill(Signals::kill);
      }
      Signals.kill(alive);
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while processes of an earlier run are killed", e);
      }
    }
    List<String> problems = groups.remove();
    problems.forEach(problem -> log.warn("left over from an earlier run: {}", problem));
    return new Recovery(invocations, killed.size(), groups.paths().size());
  }

  /** Pids of all live processes of these invocations, each with the invocation it belongs to. */
  static Map<Long, String> find(Journal.Left left) {
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
    Map<Long, String> found = new HashMap<>();
    Set<Long> strangers = new HashSet<>();
    for (ProcFs.Stat process : processes) {
      Journal.Entry entry = leaders.get(process.pid());
      if (entry != null && entry.startTicks() != process.startTicks()) {
        strangers.add(process.pid());
      } else if (entry != null && process.isAlive()) {
        found.put(process.pid(), entry.invocation());
      }
    }
    for (ProcFs.Stat process : processes) {
      if (!process.isAlive() || found.containsKey(process.pid())) {
        continue;
      }
      String invocation = leading(process, process.group(), leaders, strangers);
      if (invocation == null) {
        invocation = leading(process, process.session(), leaders, strangers);
      }
      if (invocation == null) {
        invocation = byCookie(process.pid(), left.cookie());
      }
      if (invocation != null && invocations.contains(invocation)) {
        found.put(process.pid(), invocation);
      }
    }
    return found;
  }

  /**
   * The invocation whose process leads that group or session; null when none does. A number of a
   * group or session cannot be given away while it has members.
   */
  private static @Nullable String leading(
      ProcFs.Stat process, long number, Map<Long, Journal.Entry> leaders, Set<Long> strangers) {
    Journal.Entry entry = leaders.get(number);
    return entry != null
            && !strangers.contains(number)
            && process.startTicks() >= entry.startTicks()
        ? entry.invocation()
        : null;
  }

  /** All that have the cookie of a run, whichever invocation they belong to. */
  static Set<Long> withCookie(String cookie) {
    Set<Long> found = new TreeSet<>();
    for (long pid : ProcFs.pids()) {
      if (byCookie(pid, cookie) != null
          && ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isPresent()) {
        found.add(pid);
      }
    }
    return found;
  }

  private static @Nullable String byCookie(long pid, String cookie) {
    if (cookie.isEmpty()) {
      return null;
    }
    String environment = ProcFs.environment(pid);
    if (!environment.contains(COOKIE_VARIABLE + "=" + cookie)) {
      return null;
    }
    String prefix = INVOCATION_VARIABLE + "=";
    for (String variable : environment.split("\0", -1)) {
      if (variable.startsWith(prefix)) {
        return variable.substring(prefix.length());
      }
    }
    return null;
  }
}
