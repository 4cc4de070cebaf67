package io.espalier.worker.process;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which invocations may have processes (ruling 4): a text file that the next start, and the guard,
 * read after this process has died without warning. Not synced: it only has to outlive the process;
 * after a crash of the machine (another boot id) no process is left.
 *
 * <p>Lines: {@code c COOKIE BOOT} first; {@code s INVOCATION} before a start; {@code p INVOCATION
 * PID TICKS SIGNAL} after it; {@code e INVOCATION} once it has ended. Belongs to one thread.
 */
final class Journal implements AutoCloseable {
  private static final int LINES_BEFORE_REWRITE = 20_000;

  private final Path directory;
  private final Path file;
  private final String cookie;
  private final FileChannel lockChannel;
  private final Map<String, String> live = new LinkedHashMap<>();
  private @Nullable FileOutputStream out;
  private int lines;

  private Journal(Path directory, String cookie, FileChannel lockChannel) {
    this.directory = directory;
    this.file = directory.resolve("journal");
    this.cookie = cookie;
    this.lockChannel = lockChannel;
  }

  /**
   * One invocation that has no end in a journal.
   *
   * @param pid 0 when it is not known whether it was started
   */
  record Entry(String invocation, long pid, long startTicks) {}

  /** What an earlier journal left. */
  record Left(String cookie, String bootId, List<Entry> entries) {}

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
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    return new Journal(directory, HexFormat.of().formatHex(random), channel);
  }

  /** Arguments and tokens of tasks are nobody else's business. */
  private static void restrict(Path directory) throws IOException {
    try {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
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

  Left left() throws IOException {
    return Files.exists(file) ? parse(Files.readAllLines(file)) : new Left("", "", List.of());
  }

  /** A last line that was cut off by the death of the writer is ignored. */
  static Left parse(List<String> lines) {
    String cookie = "";
    String boot = "";
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("c") && words.length == 3) {
        cookie = words[1];
        boot = words[2];
      } else if (words[0].equals("s") && words.length == 2) {
        entries.put(words[1], new Entry(words[1], 0, 0));
      } else if (words[0].equals("p") && words.length == 5) {
        try {
          long pid = Long.parseLong(words[2]);
          entries.put(words[1], new Entry(words[1], pid, Long.parseLong(words[3])));
        } catch (NumberFormatException e) {
          entries.putIfAbsent(words[1], new Entry(words[1], 0, 0));
        }
      } else if (words[0].equals("e") && words.length == 2) {
        entries.remove(words[1]);
      }
    }
    return new Left(cookie, boot, List.copyOf(entries.values()));
  }

  /** Begins the journal of this run; call when nothing of the earlier one is left. */
  void begin() throws IOException {
    rewrite();
  }

  void starting(String invocation) throws IOException {
    String line = "s " + invocation;
    live.put(invocation, line);
    write(line);
  }

  void started(String invocation, long pid, long startTicks, int deathSignal) throws IOException {
    String line = "p " + invocation + " " + pid + " " + startTicks + " " + deathSignal;
    live.put(invocation, line);
    write(line);
  }

  void ended(String invocation) throws IOException {
    live.remove(invocation);
    if (lines > LINES_BEFORE_REWRITE && live.size() < lines / 4) {
      rewrite();
    } else {
      write("e " + invocation);
    }
  }

  private void write(String line) throws IOException {
    if (out == null) {
      throw new IOException("the journal " + file + " is closed");
    }
    lines++;
    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private void rewrite() throws IOException {
    StringBuilder text = new StringBuilder("c " + cookie + " " + ProcFs.bootId() + "\n");
    Collection<String> kept = live.values();
    kept.forEach(line -> text.append(line).append('\n'));
    Path fresh = file.resolveSibling("journal.new");
    Files.writeString(fresh, text);
    FileOutputStream next = new FileOutputStream(fresh.toFile(), true);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    if (out != null) {
      out.close();
    }
    out = next;
    lines = kept.size();
  }

  @Override
  public void close() throws IOException {
    if (out != null) {
      out.close();
      out = null;
    }
    lockChannel.close();
  }
}
