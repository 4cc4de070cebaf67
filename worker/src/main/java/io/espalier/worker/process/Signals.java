package io.espalier.worker.process;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends signals without native code, for the places where nothing hurries. */
final class Signals {
  private static final Logger log = LoggerFactory.getLogger(Signals.class);

  private Signals() {}

  static void group(long group, int signal) {
    send(signal, "-" + group);
  }

  static void process(long pid, int signal) {
    send(signal, Long.toString(pid));
  }

  private static void send(int signal, String target) {
    try {
      Process kill =
          new ProcessBuilder(List.of("kill", "-" + signal, "--", target))
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
