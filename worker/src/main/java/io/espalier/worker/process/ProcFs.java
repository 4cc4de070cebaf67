package io.espalier.worker.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What {@code /proc} says about processes. A process may be gone between two questions. */
final class ProcFs {
  private static final int DESCRIPTORS_FOR_OTHERS = 400;
  private static final int TICKS_PER_SECOND = 100;
  private static final Path ROOT = Path.of("/proc");

  private ProcFs() {}

  /**
   * @param state Z and X are dead
   * @param startTicks clock ticks from boot to its start: with the pid it names a process
   */
  record Stat(long pid, char state, long group, long session, long startTicks, long cpuMillis) {
    boolean isAlive() {
      return state != 'Z' && state != 'X';
    }
  }

  static Optional<Stat> stat(long pid) {
    byte[] buffer = new byte[1024];
    int length;
    try (FileInputStream in = new FileInputStream("/proc/" + pid + "/stat")) {
      length = in.read(buffer);
    } catch (IOException e) {
      return Optional.empty();
    }
    if (length <= 0) {
      return Optional.empty();
    }
    String text = new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
    // The second field is the name in parentheses and may itself hold blanks and parentheses.
    String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", 21);
    return Optional.of(
        new Stat(
            pid,
            fields[0].charAt(0),
            Long.parseLong(fields[2]),
            Long.parseLong(fields[3]),
            Long.parseLong(fields[19]),
            // User and system time, also of children that it has waited for.
            (Long.parseLong(fields[11])
                    + Long.parseLong(fields[12])
                    + Long.parseLong(fields[13])
                    + Long.parseLong(fields[14]))
                * 1000
                / TICKS_PER_SECOND));
  }

  static List<Long> pids() {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(ROOT, "[0-9]*")) {
      for (Path entry : entries) {
        pids.add(Long.parseLong(entry.getFileName().toString()));
      }
    } catch (IOException | DirectoryIteratorException e) {
      return pids;
    }
    return pids;
  }

  /** The environment a process was started with, empty when it may not be read. */
  static String environment(long pid) {
    try {
      byte[] bytes = Files.readAllBytes(ROOT.resolve(Long.toString(pid)).resolve("environ"));
      return new String(bytes, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /** A line of {@code /proc/PID/FILE}: the number after its name; -1 when there is none. */
  static long field(String process, String file, String name) {
    try {
      for (String line : Files.readAllLines(ROOT.resolve(process).resolve(file))) {
        if (line.startsWith(name + ":")) {
          return Long.parseLong(line.substring(name.length() + 1).strip().split("\\s+", 2)[0]);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
    return -1;
  }

  /** Bytes of memory that a process has held at most; -1 when that is not known. */
  static long peakMemory(String process) {
    long kib = field(process, "status", "VmHWM");
    return kib < 0 ? -1 : kib << 10;
  }

  /** As whom we act. */
  static int effectiveUid() {
    try {
      for (String line : Files.readAllLines(ROOT.resolve("self/status"))) {
        if (line.startsWith("Uid:")) {
          return Integer.parseInt(line.substring(4).strip().split("\\s+", 3)[1]);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
    return -1;
  }

  static int ownNice() {
    try {
      String text = Files.readString(ROOT.resolve("self/stat"));
      return Integer.parseInt(text.substring(text.lastIndexOf(')') + 2).split(" ", 18)[16]);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /** How many things of so many descriptors fit into our limit, with some left for others. */
  static int descriptorsFor(int each) {
    try {
      for (String line : Files.readAllLines(ROOT.resolve("self/limits"))) {
        if (line.startsWith("Max open files")) {
          String soft = line.substring("Max open files".length()).strip().split(" +", 2)[0];
          return (int) Math.max(1, (Long.parseLong(soft) - DESCRIPTORS_FOR_OTHERS) / each);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return Integer.MAX_VALUE;
    }
    return Integer.MAX_VALUE;
  }

  /** Differs after every boot; empty where there is no such file. */
  static String bootId() {
    try {
      return Files.readString(ROOT.resolve("sys/kernel/random/boot_id")).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
