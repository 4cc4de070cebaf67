package io.espalier.worker.process.os;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Sends signals: by the system call where JNA works, otherwise KILL and TERM to single processes
 * through the JDK. Only what neither can do needs the program {@code kill}, and with it a fork. A
 * signal that did not arrive is not an error here: the caller searches again after a kill.
 */
public final class Signals {
  public static final int TERM = 15;
  public static final int KILL = 9;

  /** Pids per call of the program: far below the limit of a command line. */
  private static final int AT_ONCE = 1000;

  private static final boolean NATIVE = isNative();

  private Signals() {}

  /** The only C function used here, kept apart so that it is available wherever JNA is. */
  private static final class Call {
    static {
      CFunctions.register(Call.class);
    }

    private Call() {}

    static native int kill(int pid, int signal);
  }

  private static boolean isNative() {
    try {
      return Call.kill((int) ProcessHandle.current().pid(), 0) == 0;
    } catch (LinkageError e) {
      return false;
    }
  }

  /** Returns whether a whole group can be signalled in one step and without a fork. */
  public static boolean reachesGroups() {
    return NATIVE;
  }

  public static void group(long group, int signal) {
    if (NATIVE) {
      int unused = Call.kill((int) -group, signal);
    } else {
      run(signal, List.of("-" + group));
    }
  }

  public static void processes(Collection<Long> pids, int signal) {
    if (NATIVE) {
      for (long pid : pids) {
        int unused = Call.kill((int) pid, signal);
      }
      return;
    }
    if (signal == KILL || signal == TERM) {
      for (long pid : pids) {
        ProcessHandle.of(pid)
            .ifPresent(
                process -> {
                  boolean unused = signal == TERM ? process.destroy() : process.destroyForcibly();
                });
      }
      return;
    }
    List<String> targets = pids.stream().map(String::valueOf).toList();
    for (int from = 0; from < targets.size(); from += AT_ONCE) {
      run(signal, targets.subList(from, Math.min(targets.size(), from + AT_ONCE)));
    }
  }

  public static void kill(Collection<Long> pids) {
    processes(pids, KILL);
  }

  private static void run(int signal, List<String> targets) {
    List<String> command = new ArrayList<>(List.of("kill", "-" + signal, "--"));
    command.addAll(targets);
    try {
      Process kill =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!kill.waitFor(10, TimeUnit.SECONDS)) {
        kill.destroyForcibly();
      }
    } catch (IOException e) {
      // The next search finds the processes that were not reached.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
