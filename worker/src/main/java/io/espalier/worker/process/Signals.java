package io.espalier.worker.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends signals without native code, for the places where nothing hurries. */
final class Signals {
  private static final Logger log = LoggerFactory.getLogger(Signals.class);

  /** Pids per call: far below what a command line may have. */
  private static final int AT_ONCE = 1000;

  private Signals() {}

  static void group(long group, int signal) {
    send(signal, List.of("-" + group));
  }

  static void processes(Collection<Long> pids, int signal) {
    List<String> targets = pids.stream().map(String::valueOf).toList();
    for (int from = 0; from < targets.size(); from += AT_ONCE) {
      send(signal, targets.subList(from, Math.min(targets.size(), from + AT_ONCE)));
    }
  }

  static void kill(Collection<Long> pids) {
    processes(pids, KillPlan.KILL);
  }

  private static void send(int signal, List<String> targets) {
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
      log.warn("cannot run kill: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
