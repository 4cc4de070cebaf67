package io.espalier.worker.process;

import io.espalier.worker.cgroup.TaskGroup;
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
 * Finds and kills all that a journal names. The guard, the clean-up at the start and the sweeps of
 * the living worker all do it with this class, which logs nothing, forks nothing and starts no
 * thread: it must work where nothing else does.
 *
 * <p>To an invocation belong: the members of its control groups, frozen ones too; the process that
 * was started, if number and start time agree; what is in that one's group or session, also when it
 * is gone itself; what has the cookie of the run and the invocation in its environment; and, as
 * long as it has not called exec, a start that is under way.
 *
 * <p>Not found is a process without control groups that has left the session <em>and</em> replaced
 * its environment. What could not be looked at is <em>unknown</em>, never gone.
 */
final class JournalKiller {
  static final String COOKIE_VARIABLE = "ESPALIER_TASK_COOKIE";
  static final String INVOCATION_VARIABLE = "ESPALIER_TASK_INVOCATION";

  /** A freeze that takes longer, because a process hangs in the kernel, is begun again. */
  private static final int FREEZING_ROUNDS = 200;

  private static final int SHOWN = 5;
  private static final long SELF = ProcessHandle.current().pid();

  private int freezingRounds;

  /** Which processes of a run are meant. */
  enum Reach {
    /** Those of the invocations that the journal names. */
    INVOCATIONS,
    /** Those of all invocations of the run, ended ones too. */
    RUN
  }

  /**
   * What one look has found.
   *
   * @param alive pids, each with its invocation; empty for members of control groups
   * @param unknown what could not be looked at, and why
   */
  record Found(Map<Long, String> alive, List<String> unknown) {
    Found {
      alive = Map.copyOf(alive);
      unknown = List.copyOf(unknown);
    }

    /** Whether it is certain that nothing lives. */
    boolean isNothing() {
      return alive.isEmpty() && unknown.isEmpty();
    }

    /** For people. */
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
   * The name of threads that start processes for the run with this cookie. Until its exec a child
   * has the name of the thread that made it, and nothing else that tells whose it is.
   */
  static String starterName(String cookie) {
    return "sp-" + cookie.substring(0, Math.min(12, cookie.length()));
  }

  /** Looks, and signals nothing. */
  static Found find(Journal.Left left, Reach reach) {
    return new Look(left, reach, invocation -> 0).result();
  }

  /**
   * One round: looks, and signals what it finds at once, before it looks at anything that might
   * take long.
   *
   * @param signal for an invocation; 0: none
   * @return what was alive before; call again until it is nothing
   */
  Found round(Journal.Left left, Reach reach, ToIntFunction<String> signal) {
    Look look = new Look(left, reach, signal);
    killGroups(left, look);
    return look.result();
  }

  private void killGroups(Journal.Left left, Look look) {
    boolean freezing = false;
    for (Journal.Group of : left.groups()) {
      if (look.signal.applyAsInt(of.invocation()) != KillPlan.KILL) {
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

    /** Leaders, groups, sessions and starts under way; returns the others. */
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
          // Which invocation it is going to be cannot be seen.
          found(process.pid(), "", false);
        } else {
          rest.add(process);
        }
      }
      return rest;
    }

    /** Where the start time could not be read, a process that leads its session is believed. */
    private static boolean isLeader(ProcFs.Stat process, Journal.Entry entry) {
      return entry.startTicks() == 0
          ? process.session() == process.pid()
          : entry.startTicks() == process.startTicks();
    }

    /**
     * The invocation whose process leads that group or session; null when none does. A number of a
     * group or session cannot be given away while it has members.
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
      String mark = "\0" + COOKIE_VARIABLE + "=" + left.cookie() + "\0";
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
      String prefix = INVOCATION_VARIABLE + "=";
      for (String variable : environment.split("\0", -1)) {
        if (variable.startsWith(prefix)) {
          return variable.substring(prefix.length());
        }
      }
      return "";
    }

    /**
     * Of processes that hide their environment only those count that may well be of a task: our own
     * user's, in our control groups, younger than the journal. Others are there on every host.
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
