package io.espalier.worker.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the host of a worker offers, by the names of physical resources. */
@FunctionalInterface
public interface HostResources {
  Map<String, Long> physical();

  /** Memory and cores as {@code /proc} tells them. */
  static HostResources ofProc() {
    return () -> {
      Map<String, Long> found = new LinkedHashMap<>();
      found.put("cpu_core", (long) Runtime.getRuntime().availableProcessors());
      try {
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
          String[] words = line.split(" +", -1);
          if (words[0].equals("MemTotal:") && words.length > 1) {
            found.put("ram_mb", Long.parseLong(words[1]) / 1024);
          }
        }
      } catch (IOException | NumberFormatException e) {
        // Not known is what it is then; such a worker gets no task that needs memory.
        found.remove("ram_mb");
      }
      return found;
    };
  }
}
