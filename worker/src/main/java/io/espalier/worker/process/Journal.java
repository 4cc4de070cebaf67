package io.espalier.worker.process;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which invocations may have processes (docs/design/design.md#journal-and-guard): a text file that
 * the next start, and the guard, read after this process has died without warning. Not synced: it
 * only has to outlive the process; after a crash of the machine (another boot id) no process is
 * left.
 *
 * <p>Lines: {@code c COOKIE BOOT} and {@code n PID_NAMESPACE TICKS} first; {@code s INVOCATION}
 * before a start; {@code p INVOCATION PID TICKS SIGNAL} after it; {@code e INVOCATION} once it has
 * ended; {@code g INVOCATION PATH} for each control group that was made, {@code r PATH} once that
 * is removed. Belongs to one thread.
 */
final class Journal implements AutoCloseable {
  private static final int COOKIE_BYTES = 16;
  private static final int LINES_BEFORE_REWRITE = 20_000;

  private final Path directory;
  private final Path file;
  private final String cookie;
  private final FileChannel lockChannel;
  private final Map<String, String> live = new LinkedHashMap<>();
  private final Map<Path, String> groups = new LinkedHashMap<>();
  private final long seed;
  private final long since = ProcFs.uptimeTicks();
  private @Nullable FileOutputStream out;
  private boolean started;
  private boolean torn;
  private int lines;

  private Journal(Path directory, byte[] random, FileChannel lockChannel) {
    this.directory = directory;
    this.file = directory.resolve("journal");
    this.cookie = HexFormat.of().formatHex(random, 0, COOKIE_BYTES);
    this.seed = ByteBuffer.wrap(random).getLong(COOKIE_BYTES);
    this.lockChannel = lockChannel;
  }

  /**
   * One invocation that has no end in a journal.
   *
   * @param pid 0 when it is not known whether it was started
   * @param startTicks 0 when that could not be read
   * @param signal what its processes get when the one that started them dies; 0: nothing
   */
  record Entry(String invocation, long pid, long startTicks, int signal) {
    Entry(String invocation, long pid, long startTicks) {
      this(invocation, pid, startTicks, KillPlan.KILL);
    }
  }

  /** A control group that was made for an invocation and not removed. */
  record Group(String invocation, Path path) {}

  /**
   * What an earlier journal left.
   *
   * @param pidNamespace whose processes its numbers mean; empty: not said
   * @param sinceTicks when it was begun, as start times count; 0: not said
   */
  record Left(
      String cookie,
      String bootId,
      String pidNamespace,
      long sinceTicks,
      List<Entry> entries,
      List<Group> groups) {
    Left(String cookie, String bootId, List<Entry> entries) {
      this(cookie, bootId, "", 0, entries, List.of());
    }

    /** The same with other invocations. */
    Left withEntries(List<Entry> others) {
      return new Left(cookie, bootId, pidNamespace, sinceTicks, others, groups);
    }

    /** Only what is to get a KILL when the one that started it dies. */
    Left killed() {
      Set<String> others = new HashSet<>();
      List<Entry> doomed = new ArrayList<>();
      for (Entry entry : entries) {
        if (entry.signal() == KillPlan.KILL) {
          doomed.add(entry);
        } else {
          others.add(entry.invocation());
        }
      }
      List<Group> theirs = new ArrayList<>(groups);
      theirs.removeIf(group -> others.contains(group.invocation()));
      return new Left(cookie, bootId, pidNamespace, sinceTicks, doomed, theirs);
    }

    /** Whether there was no journal. */
    boolean isEmpty() {
      return cookie.isEmpty() && entries.isEmpty() && groups.isEmpty();
    }

    /** Whether its process numbers mean what they mean to us. */
    boolean isOfVisibleProcesses() {
      return bootId.equals(ProcFs.bootId())
          && (pidNamespace.isEmpty() || pidNamespace.equals(ProcFs.pidNamespace()));
    }
  }

  /**
   * Locks the directory and reads what is there; writes nothing yet.
   *
   * @throws IOException when another process has the directory, or it cannot be used
   */
  static Journal lock(Path directory) throws IOException {
    Files.createDirectories(directory);
    restrict(directory);
    FileChannel channel =
        FileChannel.open(
            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new IOException(
          "another scheduler or worker runs its tasks from " + directory + "; it must end first");
    }
    byte[] random = new byte[COOKIE_BYTES + Long.BYTES];
    new SecureRandom().nextBytes(random);
    return new Journal(directory, random, channel);
  }

  /**
   * Arguments and tokens of tasks are nobody else's business; but tasks that run as another user
   * must reach the files that are given to them.
   */
  private static void restrict(Path directory) throws IOException {
    try {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    } catch (UnsupportedOperationException e) {
      return;
    }
  }

  /** Private to this process while it is locked. */
  Path directory() {
    return directory;
  }

  Path file() {
    return file;
  }

  /** In the environment of all tasks of this run. */
  String cookie() {
    return cookie;
  }

  /** Random, of this run, and no secret. */
  long seed() {
    return seed;
  }

  /** Whether anything was ever started in this run. */
  boolean hasStarted() {
    return started;
  }

  Left left() throws IOException {
    return Files.exists(file) ? parse(Files.readAllLines(file)) : new Left("", "", List.of());
  }

  /** A last line that was cut off by the death of the writer is ignored. */
  static Left parse(List<String> lines) {
    String cookie = "";
    String boot = "";
    String namespace = "";
    Map<String, Entry> entries = new LinkedHashMap<>();
    long since = 0;
    Map<Path, Group> groups = new LinkedHashMap<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (line.startsWith("g ") && words.length > 2) {
        // A path may hold blanks. Of one that was cut off nothing exists.
        Path path = Path.of(line.substring(2 + words[1].length() + 1));
        groups.put(path, new Group(words[1], path));
        continue;
      }
      if (line.startsWith("r ")) {
        groups.remove(Path.of(line.substring(2)));
        continue;
      }
      if (words[0].equals("c") && words.length == 3) {
        cookie = words[1];
        boot = words[2];
      } else if (words[0].equals("n") && words.length == 3) {
        namespace = words[1];
        since = number(words[2]);
      } else if (words[0].equals("s") && words.length == 2) {
        entries.put(words[1], new Entry(words[1], 0, 0));
      } else if (words[0].equals("p") && words.length == 5) {
        try {
          long pid = Long.parseLong(words[2]);
          int signal = Integer.parseInt(words[4]);
          entries.put(words[1], new Entry(words[1], pid, Long.parseLong(words[3]), signal));
        } catch (NumberFormatException e) {
          entries.putIfAbsent(words[1], new Entry(words[1], 0, 0));
        }
      } else if (words[0].equals("e") && words.length == 2) {
        entries.remove(words[1]);
      }
    }
    return new Left(
        cookie,
        boot,
        namespace,
        since,
        List.copyOf(entries.values()),
        List.copyOf(groups.values()));
  }

  private static long number(String word) {
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Begins the journal of this run; call when nothing of the earlier one is left. */
  void begin() throws IOException {
    rewrite();
  }

  void starting(String invocation) throws IOException {
    started = true;
    String line = "s " + invocation;
    live.put(invocation, line);
    write(line);
  }

  void started(String invocation, long pid, long startTicks, int deathSignal) throws IOException {
    String line = "p " + invocation + " " + pid + " " + startTicks + " " + deathSignal;
    live.put(invocation, line);
    write(line);
  }

  /** Before a directory is used as control group of an invocation. */
  void group(String invocation, Path path) throws IOException {
    if (path.toString().indexOf('\n') >= 0) {
      throw new IOException("a control group with a line break in its path: " + path);
    }
    String line = "g " + invocation + " " + path;
    groups.put(path, line);
    write(line);
  }

  /** It does not exist any more. */
  void groupRemoved(Path path) throws IOException {
    if (groups.remove(path) != null) {
      write("r " + path);
    }
  }

  void ended(String invocation) throws IOException {
    live.remove(invocation);
    if (lines > LINES_BEFORE_REWRITE && live.size() + groups.size() < lines / 4) {
      rewrite();
    } else {
      write("e " + invocation);
    }
  }

  private void write(String line) throws IOException {
    if (out == null) {
      throw new IOException("the journal " + file + " is closed");
    }
    try {
      if (torn) {
        // Nothing may run into what a full disk has cut off, and what it refused must be said.
        rewrite();
      } else {
        lines++;
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      }
    } catch (FileSystemException e) {
      torn = true;
      throw e;
    } catch (IOException e) {
      torn = true;
      throw new FileSystemException(file.toString(), null, e.getMessage());
    }
  }

  private void rewrite() throws IOException {
    StringBuilder text = new StringBuilder("c " + cookie + " " + ProcFs.bootId() + "\n");
    text.append("n ").append(ProcFs.pidNamespace()).append(' ').append(since).append('\n');
    List<String> kept = new ArrayList<>(live.values());
    kept.addAll(groups.values());
    kept.forEach(line -> text.append(line).append('\n'));
    Path fresh = file.resolveSibling("journal.new");
    JsonArgument.writePrivately(fresh, text.toString(), null);
    FileOutputStream next = new FileOutputStream(fresh.toFile(), true);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    if (out != null) {
      out.close();
    }
    out = next;
    torn = false;
    lines = kept.size();
  }

  @Override
  public void close() throws IOException {
    if (out != null) {
      try {
        if (torn) {
          rewrite();
        }
      } finally {
        out.close();
      }
      out = null;
    }
    lockChannel.close();
  }
}
