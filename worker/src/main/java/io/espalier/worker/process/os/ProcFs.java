package io.espalier.worker.process.os;

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

/** Reads information about processes from {@code /proc}. A process may end between two calls. */
public final class ProcFs {
  private static final int DESCRIPTORS_FOR_OTHERS = 400;
  private static final long KERNEL_THREAD = 0x00200000;
  private static final int TICKS_PER_SECOND = 100;
  private static final Path ROOT = Path.of("/proc");

  private ProcFs() {}

  /**
   * The status of a process.
   *
   * @param name truncated name of its program; until it calls exec, of the thread that created it
   * @param state Z and X are dead
   * @param ofKernel whether it is a kernel thread, which has no memory and no environment
   * @param startTicks clock ticks from boot to its start: together with the pid, it identifies a
   *     process
   */
  public record Stat(
      long pid,
      String name,
      char state,
      boolean ofKernel,
      long group,
      long session,
      long startTicks,
      long cpuMillis) {
    public boolean isAlive() {
      return state != 'Z' && state != 'X';
    }
  }

  /**
   * Returns the status of a process; empty when the process is gone.
   *
   * @throws IOException when the status cannot be read: the process may well exist
   */
  public static Optional<Stat> stat(long pid) throws IOException {
    byte[] bytes = read(pid, "stat");
    if (bytes.length == 0) {
      return Optional.empty();
    }
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    // The second field is the name in parentheses and may itself contain blanks and parentheses.
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
            // User and system time, including that of children that it has waited for.
            (Long.parseLong(fields[11])
                    + Long.parseLong(fields[12])
                    + Long.parseLong(fields[13])
                    + Long.parseLong(fields[14]))
                * 1000
                / TICKS_PER_SECOND));
  }

  /** Reads a file of a process; empty when the process is gone. */
  private static byte[] read(long pid, String name) throws IOException {
    Path directory = ROOT.resolve(Long.toString(pid));
    try (InputStream in = Files.newInputStream(directory.resolve(name))) {
      return in.readAllBytes();
    } catch (NoSuchFileException e) {
      return new byte[0];
    } catch (IOException e) {
      // It may have ended between open and read. Checking for a directory takes no descriptor.
      if (Files.notExists(directory)) {
        return new byte[0];
      }
      throw e;
    }
  }

  /**
   * Returns the pids of all visible processes.
   *
   * @throws IOException when they cannot be listed
   */
  public static List<Long> pids() throws IOException {
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
   * Returns the environment that a process was started with; empty when the process is gone.
   *
   * @throws IOException when it cannot be read, or permission is missing
   */
  public static String environment(long pid) throws IOException {
    try {
      return new String(read(pid, "environ"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      if (stat(pid).filter(Stat::isAlive).isEmpty()) {
        return "";
      }
      throw e;
    }
  }

  /** Returns whether a process runs as our user and in our control groups. */
  public static boolean isOfOurUserAndGroups(long pid) {
    try {
      return field(Long.toString(pid), "status", "Uid") == field("self", "status", "Uid")
          && Files.readString(ROOT.resolve(Long.toString(pid)).resolve("cgroup"))
              .equals(Files.readString(ROOT.resolve("self/cgroup")));
    } catch (IOException e) {
      return Files.exists(ROOT.resolve(Long.toString(pid)));
    }
  }

  /**
   * Returns the time since the boot, including suspension, in the unit of start times; 0 when
   * unknown.
   */
  public static long uptimeTicks() {
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

  /**
   * Returns the number after a name at the start of a line of {@code /proc/PID/FILE}; -1 when there
   * is no such line.
   */
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

  /** Returns the peak memory of a process in bytes; -1 when unknown. */
  public static long peakMemory(String process) {
    long kib = field(process, "status", "VmHWM");
    return kib < 0 ? -1 : kib << 10;
  }

  /** Returns the effective user id of this process. */
  public static int effectiveUid() {
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

  public static int ownNice() {
    try {
      String text = Files.readString(ROOT.resolve("self/stat"));
      return Integer.parseInt(text.substring(text.lastIndexOf(')') + 2).split(" ", 18)[16]);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /**
   * Returns how many items that need {@code each} descriptors fit into our limit, with a reserve
   * for other uses.
   */
  public static int descriptorsFor(int each) {
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

  /** Returns an identifier of our pid namespace; empty when unknown. */
  public static String pidNamespace() {
    try {
      return Files.readSymbolicLink(ROOT.resolve("self/ns/pid")).toString();
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  /** Returns an id that differs after every boot; empty where the system has none. */
  public static String bootId() {
    try {
      return Files.readString(ROOT.resolve("sys/kernel/random/boot_id")).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
