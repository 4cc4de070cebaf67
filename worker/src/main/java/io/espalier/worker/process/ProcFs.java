package io.espalier.worker.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What {@code /proc} says about processes. A process may be gone between two questions. */
final class ProcFs {
  private static final int DESCRIPTORS_FOR_OTHERS = 400;
  private static final long KERNEL_THREAD = 0x00200000;
  private static final int TICKS_PER_SECOND = 100;
  private static final Path ROOT = Path.of("/proc");

  private ProcFs() {}

  /**
   * @param name of its program, cut off; until it calls exec, of the thread that made it
   * @param state Z and X are dead
   * @param ofKernel it is a thread of the kernel, which has no memory and no environment
   * @param startTicks clock ticks from boot to its start: with the pid it names a process
   */
  record Stat(
      long pid,
      String name,
      char state,
      boolean ofKernel,
      long group,
      long session,
      long startTicks,
      long cpuMillis) {
    boolean isAlive() {
      return state != 'Z' && state != 'X';
    }
  }

  /**
   * What it is; empty when it is gone.
   *
   * @throws IOException when that cannot be seen: it may well be there
   */
  static Optional<Stat> stat(long pid) throws IOException {
    byte[] bytes = read(pid, "stat");
    if (bytes.length == 0) {
      return Optional.empty();
    }
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    // The second field is the name in parentheses and may itself hold blanks and parentheses.
    int end = text.lastIndexOf(')');
    String[] fields = text.substring(end + 2).split(" ", 21);
    return Optional.of(
        new Stat(
            pid,
            text.substring(text.indexOf('(') + 1, end),
            fields[0].charAt(0),
            (Long.parseLong(fields[6]) & KERNEL_THREAD) != 0,
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

  /** A file of a process; empty when that is gone. */
  private static byte[] read(long pid, String name) throws IOException {
    Path directory = ROOT.resolve(Long.toString(pid));
    try (InputStream in = Files.newInputStream(directory.resolve(name))) {
      return in.readAllBytes();
    } catch (NoSuchFileException e) {
      return new byte[0];
    } catch (IOException e) {
      // It may have gone between open and read. To look for a directory takes no descriptor.
      if (Files.notExists(directory)) {
        return new byte[0];
      }
      throw e;
    }
  }

  /**
   * All processes that can be seen.
   *
   * @throws IOException when they cannot be listed
   */
  static List<Long> pids() throws IOException {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(ROOT, "[0-9]*")) {
      for (Path entry : entries) {
        pids.add(Long.parseLong(entry.getFileName().toString()));
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return pids;
  }

  /**
   * The environment a process was started with; empty when it is gone.
   *
   * @throws IOException when it may not, or cannot, be read
   */
  static String environment(long pid) throws IOException {
    try {
      return new String(read(pid, "environ"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      if (stat(pid).filter(Stat::isAlive).isEmpty()) {
        return "";
      }
      throw e;
    }
  }

  /** Whether it runs for the user that we are, in the control groups that we are in. */
  static boolean isOfOurUserAndGroups(long pid) {
    try {
      return field(Long.toString(pid), "status", "Uid") == field("self", "status", "Uid")
          && Files.readString(ROOT.resolve(Long.toString(pid)).resolve("cgroup"))
              .equals(Files.readString(ROOT.resolve("self/cgroup")));
    } catch (IOException e) {
      return Files.exists(ROOT.resolve(Long.toString(pid)));
    }
  }

  /** Since the boot, suspension included, in the unit of start times; 0 when not known. */
  static long uptimeTicks() {
    try {
      String text = Files.readString(ROOT.resolve("uptime"));
      String seconds = text.substring(0, text.indexOf(' '));
      int point = seconds.indexOf('.');
      return Long.parseLong(seconds.substring(0, point)) * TICKS_PER_SECOND
          + Long.parseLong(seconds.substring(point + 1));
    } catch (IOException | RuntimeException e) {
      return 0;
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

  /** Names the set of processes that we see; empty when that is not known. */
  static String pidNamespace() {
    try {
      return Files.readSymbolicLink(ROOT.resolve("self/ns/pid")).toString();
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
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
