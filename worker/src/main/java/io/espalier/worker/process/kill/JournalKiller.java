package io.espalier.worker.process.kill;

import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import io.espalier.worker.process.spawn.TaskEnvironment;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds and kills all processes that a journal names. The guard, the clean-up at the start and the
 * sweeps of the living worker share this class. It logs nothing, forks nothing and starts no
 * thread: it must work where nothing else does.
 *
 * <p>An invocation includes: the members of its control groups, even frozen ones; the started
 * process, if number and start time match; the members of that process's group or session, even
 * after its own end; every process with the cookie of the run and the invocation in its
 * environment; and, until it calls exec, a start under way.
 *
 * <p>The search cannot find a process without control groups that has left the session <em>and</em>
 * replaced its environment. What could not be examined is <em>unknown</em>, never gone.
 */
public final class JournalKiller {
  /**
   * The number of rounds after which a freeze is begun again, because a process hangs in the
   * kernel.
   */
  private static final int FREEZING_ROUNDS = 200;

  private static final int SHOWN = 5;
  private static final long SELF = ProcessHandle.current().pid();

  private int freezingRounds;

  /** Which processes of a run are included. */
  public enum Reach {
    /** Those of the invocations that the journal names. */
    INVOCATIONS,
    /** Those of all invocations of the run, including ended ones. */
    RUN
  }

  /**
   * The result of one search.
   *
   * @param alive pids, each with its invocation; empty for members of control groups
   * @param unknown what could not be examined, and why
   */
  public record Found(Map<Long, String> alive, List<String> unknown) {
    public Found {
      alive = Map.copyOf(alive);
      unknown = List.copyOf(unknown);
    }

    /** Returns whether it is certain that nothing is alive. */
    public boolean isNothing() {
      return alive.isEmpty() && unknown.isEmpty();
    }

    /** Describes the result for people. */
    @Override
    public String toString() {
      List<String> parts = new ArrayList<>();
      if (!alive.isEmpty()) {
        parts.add(
            "alive: "
                + String.join(
                    ", ",
                    new TreeSet<>(alive.keySet())
                        .stream().limit(SHOWN).map(String::valueOf).toList())
                + (alive.size() > SHOWN ? " and " + (alive.size() - SHOWN) + " more" : ""));
      }
      if (!unknown.isEmpty()) {
        parts.add(
            "unknown: " + String.join("; ", unknown.subList(0, Math.min(SHOWN, unknown.size()))));
      }
      return String.join("; ", parts);
    }
  }

  /**
   * Returns the name of the threads that start processes for the run with this cookie. Until its
   * exec a child has the name of the thread that created it, and nothing else identifies its owner.
   */
  public static String starterName(String cookie) {
    return "sp-" + cookie.substring(0, Math.min(12, cookie.length()));
  }

  /** Searches without sending signals. */
  static Found find(Journal.Left left, Reach reach) {
    return new Look(left, reach, invocation -> 0).result();
  }

  /**
   * Runs one round: searches, and signals each find at once, before it examines anything that might
   * take long.
   *
   * @param signal signal for an invocation; 0: none
   * @return what was alive before; call again until nothing is
   */
  public Found round(Journal.Left left, Reach reach, ToIntFunction<String> signal) {
    Look look = new Look(left, reach, signal);
    killGroups(left, look);
    return look.result();
  }

  private void killGroups(Journal.Left left, Look look) {
    boolean freezing = false;
    for (Journal.Group of : left.groups()) {
      if (look.signal.applyAsInt(of.invocation()) != Signals.KILL) {
        continue;
      }
      Path path = of.path();
      TaskGroup group = TaskGroup.existing(List.of(path));
      try {
        for (long pid : group.pids()) {
          if (look.isAlive(pid)) {
            look.alive.put(pid, "");
          }
        }
        if (!group.isEmpty()) {
          freezing |= group.kill(Signals::kill) == TaskGroup.Killing.FREEZING;
          if (freezing && freezingRounds >= FREEZING_ROUNDS) {
            group.thaw();
          }
        }
      } catch (IOException e) {
        look.unknown.add("control group " + path + ": " + e.getMessage());
      }
    }
    freezingRounds = freezing && freezingRounds < FREEZING_ROUNDS ? freezingRounds + 1 : 0;
  }

  /** One pass over all processes of the host. */
  private static final class Look {
    final Map<Long, String> alive = new HashMap<>();
    final List<String> unknown = new ArrayList<>();
    private final Journal.Left left;
    private final Reach reach;
    private final ToIntFunction<String> signal;
    private final Map<Long, Journal.Entry> leaders = new HashMap<>();
    private final Set<String> invocations = new HashSet<>();
    private final Set<Long> strangers = new HashSet<>();

    Look(Journal.Left left, Reach reach, ToIntFunction<String> signal) {
      this.left = left;
      this.reach = reach;
      this.signal = signal;
      for (Journal.Entry entry : left.entries()) {
        invocations.add(entry.invocation());
        if (entry.pid() > 0) {
          leaders.put(entry.pid(), entry);
        }
      }
    }

    Found result() {
      List<ProcFs.Stat> rest = byNumbers(processes());
      byEnvironment(rest);
      return new Found(alive, unknown);
    }

    boolean isAlive(long pid) throws IOException {
      return ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isPresent();
    }

    private List<ProcFs.Stat> processes() {
      List<ProcFs.Stat> processes = new ArrayList<>();
      try {
        for (long pid : ProcFs.pids()) {
          try {
            ProcFs.stat(pid)
                .filter(process -> process.isAlive() && !process.ofKernel())
                .ifPresent(processes::add);
          } catch (IOException e) {
            unknown.add("process " + pid + ": " + e.getMessage());
          }
        }
      } catch (IOException e) {
        unknown.add("/proc: " + e.getMessage());
      }
      return processes;
    }

    /** Handles leaders, groups, sessions and starts under way; returns the other processes. */
    private List<ProcFs.Stat> byNumbers(List<ProcFs.Stat> processes) {
      for (ProcFs.Stat process : processes) {
        Journal.Entry entry = leaders.get(process.pid());
        if (entry != null && !isLeader(process, entry)) {
          strangers.add(process.pid());
        }
      }
      boolean starting =
          reach == Reach.RUN || left.entries().stream().anyMatch(entry -> entry.pid() == 0);
      String starter = starting && !left.cookie().isEmpty() ? starterName(left.cookie()) : null;
      List<ProcFs.Stat> rest = new ArrayList<>();
      for (ProcFs.Stat process : processes) {
        String invocation = leading(process, process.pid());
        if (invocation == null) {
          invocation = leading(process, process.group());
        }
        if (invocation == null) {
          invocation = leading(process, process.session());
        }
        if (invocation != null) {
          found(process.pid(), invocation, process.group() == process.pid());
        } else if (process.name().equals(starter) && process.pid() != SELF) {
          // The invocation that it will become cannot be seen yet.
          found(process.pid(), "", false);
        } else {
          rest.add(process);
        }
      }
      return rest;
    }

    /**
     * Returns whether the process is the entry's. Where the start time could not be read, a process
     * that leads its session is accepted.
     */
    private static boolean isLeader(ProcFs.Stat process, Journal.Entry entry) {
      return entry.startTicks() == 0
          ? process.session() == process.pid()
          : entry.startTicks() == process.startTicks();
    }

    /**
     * Returns the invocation whose process leads that group or session; null when none does. The
     * number of a group or session cannot be reused while it has members.
     */
    private @Nullable String leading(ProcFs.Stat process, long number) {
      Journal.Entry entry = leaders.get(number);
      return entry != null
              && !strangers.contains(number)
              && process.startTicks() >= entry.startTicks()
          ? entry.invocation()
          : null;
    }

    private void byEnvironment(List<ProcFs.Stat> processes) {
      if (left.cookie().isEmpty()) {
        return;
      }
      String mark = "\0" + TaskEnvironment.COOKIE_VARIABLE + "=" + left.cookie() + "\0";
      for (ProcFs.Stat process : processes) {
        try {
          String environment = "\0" + ProcFs.environment(process.pid()) + "\0";
          if (environment.contains(mark)) {
            String invocation = invocation(environment);
            if (reach == Reach.RUN || invocations.contains(invocation)) {
              found(process.pid(), invocation, false);
            }
          }
        } catch (AccessDeniedException e) {
          if (mayBeOurs(process)) {
            unknown.add(
                "process "
                    + process.pid()
                    + " ("
                    + process.name()
                    + "): its environment may not be read");
          }
        } catch (IOException e) {
          unknown.add("process " + process.pid() + ": " + e.getMessage());
        }
      }
    }

    private static String invocation(String environment) {
      String prefix = TaskEnvironment.INVOCATION_VARIABLE + "=";
      for (String variable : environment.split("\0", -1)) {
        if (variable.startsWith(prefix)) {
          return variable.substring(prefix.length());
        }
      }
      return "";
    }

    /**
     * Returns whether a process that hides its environment may belong to a task: it must be of our
     * own user, in our control groups, and younger than the journal. Every host has other such
     * processes.
     */
    private boolean mayBeOurs(ProcFs.Stat process) {
      return left.sinceTicks() > 0
          && !left.entries().isEmpty()
          && process.startTicks() >= left.sinceTicks()
          && ProcFs.isOfOurUserAndGroups(process.pid());
    }

    private void found(long pid, String invocation, boolean leadsGroup) {
      if (pid == SELF) {
        return;
      }
      int number = signal.applyAsInt(invocation);
      alive.put(pid, invocation);
      if (number != 0) {
        if (leadsGroup && Signals.reachesGroups()) {
          Signals.group(pid, number);
        }
        Signals.processes(List.of(pid), number);
      }
    }
  }
}
