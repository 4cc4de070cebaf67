package io.espalier.worker.process.kill;

import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import io.espalier.worker.process.spawn.JsonArgument;
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
 * Records which invocations, or batches by their first one, may have processes
 * (docs/design/design.md#journal-and-guard): a text file that the next start, and the guard, read
 * after this process has died without warning. It is not synced, because it only has to outlive the
 * process; after a crash of the machine (another boot id) no process is left.
 *
 * <p>Lines: first {@code c COOKIE BOOT} and {@code n PID_NAMESPACE TICKS}; {@code s INVOCATION}
 * before a start; {@code p INVOCATION PID TICKS SIGNAL} after it; {@code e INVOCATION} once it has
 * ended; {@code g INVOCATION PATH} for each created control group, {@code r PATH} once the group is
 * removed. Confined to one thread.
 */
public final class Journal implements AutoCloseable {
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
   * An invocation without an end in a journal.
   *
   * @param pid 0 when it is unknown whether it was started
   * @param startTicks 0 when the start time could not be read
   * @param signal signal that its processes get when the process that started them dies; 0: none
   */
  public record Entry(String invocation, long pid, long startTicks, int signal) {
    public Entry(String invocation, long pid, long startTicks) {
      this(invocation, pid, startTicks, Signals.KILL);
    }
  }

  /** A control group that was created for an invocation and not removed. */
  record Group(String invocation, Path path) {}

  /**
   * The content of an earlier journal.
   *
   * @param pidNamespace namespace of its process numbers; empty: not recorded
   * @param sinceTicks when the journal was begun, in the unit of start times; 0: not recorded
   */
  public record Left(
      String cookie,
      String bootId,
      String pidNamespace,
      long sinceTicks,
      List<Entry> entries,
      List<Group> groups) {
    public Left(String cookie, String bootId, List<Entry> entries) {
      this(cookie, bootId, "", 0, entries, List.of());
    }

    /** Returns a copy with other invocations. */
    Left withEntries(List<Entry> others) {
      return new Left(cookie, bootId, pidNamespace, sinceTicks, others, groups);
    }

    /** Returns only the invocations that get a KILL when the process that started them dies. */
    Left killed() {
      Set<String> others = new HashSet<>();
      List<Entry> doomed = new ArrayList<>();
      for (Entry entry : entries) {
        if (entry.signal() == Signals.KILL) {
          doomed.add(entry);
        } else {
          others.add(entry.invocation());
        }
      }
      List<Group> theirs = new ArrayList<>(groups);
      theirs.removeIf(group -> others.contains(group.invocation()));
      return new Left(cookie, bootId, pidNamespace, sinceTicks, doomed, theirs);
    }

    /** Returns whether there was no journal. */
    boolean isEmpty() {
      return cookie.isEmpty() && entries.isEmpty() && groups.isEmpty();
    }

    /** Returns whether its process numbers mean the same processes to us. */
    boolean isOfVisibleProcesses() {
      return bootId.equals(ProcFs.bootId())
          && (pidNamespace.isEmpty() || pidNamespace.equals(ProcFs.pidNamespace()));
    }
  }

  /**
   * Locks the directory and reads the existing journal; writes nothing yet.
   *
   * @throws IOException when another process uses the directory, or it cannot be used
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
   * Restricts access: arguments and tokens of tasks are private. But tasks that run as another user
   * must reach the files that are given to them.
   */
  private static void restrict(Path directory) throws IOException {
    try {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    } catch (UnsupportedOperationException e) {
      return;
    }
  }

  /** Returns the directory, private to this process while it is locked. */
  public Path directory() {
    return directory;
  }

  public Path file() {
    return file;
  }

  /** Returns the cookie in the environment of all tasks of this run. */
  public String cookie() {
    return cookie;
  }

  /** Returns a random number of this run, which is no secret. */
  public long seed() {
    return seed;
  }

  /** Returns whether anything was ever started in this run. */
  public boolean hasStarted() {
    return started;
  }

  Left left() throws IOException {
    return Files.exists(file) ? parse(Files.readAllLines(file)) : new Left("", "", List.of());
  }

  /** Parses a journal and ignores a last line that the death of the writer cut off. */
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
        // A path may contain blanks. If it was cut off, its group does not exist.
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

  /** Begins the journal of this run; call it when nothing of the earlier run is left. */
  void begin() throws IOException {
    rewrite();
  }

  public void starting(String invocation) throws IOException {
    started = true;
    String line = "s " + invocation;
    live.put(invocation, line);
    write(line);
  }

  public void started(Entry process) throws IOException {
    String invocation = process.invocation();
    String line =
        "p "
            + invocation
            + " "
            + process.pid()
            + " "
            + process.startTicks()
            + " "
            + process.signal();
    live.put(invocation, line);
    write(line);
  }

  /** Records a control group; call it before an invocation uses the directory. */
  public void group(String invocation, Path path) throws IOException {
    if (path.toString().indexOf('\n') >= 0) {
      throw new IOException("a control group with a line break in its path: " + path);
    }
    String line = "g " + invocation + " " + path;
    groups.put(path, line);
    write(line);
  }

  /** Records that a control group no longer exists. */
  public void groupRemoved(Path path) throws IOException {
    if (groups.remove(path) != null) {
      write("r " + path);
    }
  }

  public void ended(String invocation) throws IOException {
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
        // No line may be appended to one that a full disk cut off, and rejected lines must be
        // written.
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
