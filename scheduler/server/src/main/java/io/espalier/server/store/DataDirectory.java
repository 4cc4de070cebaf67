package io.espalier.server.store;

import io.espalier.server.store.DataDirectoryException.Reason;
import io.espalier.worker.files.AtomicFiles;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Manages the directory in which one scheduler keeps everything on disk. One process at a time may
 * have it open.
 *
 * <pre>
 *   source            the configuration it belongs to
 *   lock, owner       the lock, and the process that has it
 *   id                identity of this directory, for a store that is elsewhere
 *   statuses.sqlite   task statuses
 *   epoch             the highest epoch seen
 *   newest-event      the newest event that the store is known to contain
 *   logs-shipped      id of the line of output from which on the receiver lacks them
 *   set-back          exists while the scheduler waits because its store was set back
 *   passed-on         exists when others have taken over the statuses (--statuses-from)
 *   jobs/NAME/        working directories of tasks, named by the worker
 *   archive/          statuses of jobs that expired
 *   logs/  running/   output of tasks; live invocations
 * </pre>
 *
 * <p>Thread-safe after opening. Closing releases the lock; the operating system also releases it
 * when the process dies in any way.
 */
public final class DataDirectory implements AutoCloseable {
  /** Name of the file of statuses in a data directory. */
  public static final String STATUSES = "statuses.sqlite";

  private static final List<String> STORE_FILES = List.of("", "-wal", "-shm");

  /** A directory that was used before, or into which a copy of a store was put, has one of them. */
  private static final List<String> MARKS =
      List.of("lock", "source", STATUSES, "epoch", "newest-event", "subtree-owners");

  private static final int NAMES_IN_MESSAGE = 3;
  private static final String SHIPPED = "logs-shipped";
  private static final String HELD = "io.espalier.data-directory.";

  private final Path root;
  private final FileChannel lockChannel;
  private final String heldKey;

  private DataDirectory(Path root, FileChannel lockChannel, String heldKey) {
    this.root = root;
    this.lockChannel = lockChannel;
    this.heldKey = heldKey;
  }

  /**
   * Creates the directory if it is missing, locks it and binds it to its source.
   *
   * @param source the configuration's URI, without password, and the partition if there are several
   * @throws DataDirectoryException with one clear line when that is not possible
   */
  public static DataDirectory open(Path path, String source) {
    DataDirectory opened = openUnbound(path);
    Path root = opened.root;
    try {
      opened.bind(source);
      opened.writeOwner();
      opened.logs();
      createDirectories(root.resolve("jobs"));
      return opened;
    } catch (IOException e) {
      opened.close();
      throw unusable(path, e);
    } catch (DataDirectoryException e) {
      opened.close();
      throw e;
    }
  }

  /**
   * Creates the directory if it is missing and locks it, whatever its source is.
   *
   * @throws DataDirectoryException when that is not possible
   */
  public static DataDirectory openUnbound(Path path) {
    Path root = createDirectories(path);
    refuseForeign(path, root);
    String heldKey = HELD + root;
    return new DataDirectory(root, lock(path, root, heldKey), heldKey);
  }

  /** Returns the source that a directory records, or null when it records none. Takes no lock. */
  public static @Nullable String sourceOf(Path path) {
    try {
      return Files.readString(path.resolve("source")).strip();
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException e) {
      throw unusable(path, e);
    }
  }

  /**
   * Returns the sibling directories that record a source. What this user must not read, such as the
   * directory of another service, is none of them.
   */
  public static List<Path> beside(Path root) {
    Path parent = root.getParent();
    if (parent == null) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(parent)) {
      return all.filter(path -> !path.equals(root) && recordsSource(path)).sorted().toList();
    } catch (AccessDeniedException e) {
      return List.of();
    } catch (IOException e) {
      throw unusable(parent, e);
    }
  }

  private static boolean recordsSource(Path path) {
    Path source = path.resolve("source");
    return Files.isRegularFile(source) && Files.isReadable(source);
  }

  /**
   * Returns true when other schedulers have taken over the statuses, so that no scheduler may
   * continue with them.
   */
  public boolean isPassedOn() {
    return Files.exists(passedOn());
  }

  /**
   * Durably marks that other schedulers have taken over the statuses, so that no scheduler
   * continues with them.
   */
  public void passOn() {
    try {
      AtomicFiles.replace(passedOn(), "statuses were taken from here\n");
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Undoes {@link #passOn}. */
  public void takeBack() {
    try {
      Files.deleteIfExists(passedOn());
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /**
   * Durably records that the store was set back, unless that is already recorded.
   *
   * @param what how that was detected
   */
  public void setBack(String what) {
    if (setBack().isPresent()) {
      return;
    }
    try {
      AtomicFiles.replace(setBackFile(), what + "\n");
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Returns what {@link #setBack(String)} recorded, unless it was forgotten. */
  public Optional<String> setBack() {
    try {
      return Optional.of(Files.readString(setBackFile()).strip());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Durably replaces the mark that {@link #newestEvent()} returns. */
  public void newestEvent(EventMark mark) {
    try {
      AtomicFiles.replace(newestEventFile(), mark.text());
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /**
   * Returns the newest event that the store was last known to contain.
   *
   * @throws io.espalier.core.status.store.StoreException when the file is damaged
   */
  public EventMark newestEvent() {
    Path file = newestEventFile();
    try {
      return EventMark.parse(Files.readString(file), "the file " + file);
    } catch (NoSuchFileException e) {
      return EventMark.NONE;
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Durably replaces the position that {@link #shippedLogs()} returns. */
  public void shippedLogs(long nextId) {
    try {
      AtomicFiles.replace(root.resolve(SHIPPED), nextId + "\n");
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Returns the id of the first line of output that was not sent to its receiver yet. */
  public long shippedLogs() {
    Path file = root.resolve(SHIPPED);
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (NoSuchFileException e) {
      return 0;
    } catch (NumberFormatException e) {
      throw unusable(file, new IOException("it has no number; delete it to send all output again"));
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /** Undoes {@link #setBack(String)}. */
  public void forgetSetBack() {
    try {
      Files.deleteIfExists(setBackFile());
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  /**
   * Replaces the statuses by a copy, durably, and records that the store was set back. The statuses
   * that were there are kept in files with the ending {@code .replaced}. The store must be closed.
   *
   * @param why as for {@link #setBack(String)}
   */
  public void replaceStatuses(Path copy, String why) {
    Path fresh = root.resolve(STATUSES + ".new");
    try {
      Files.copy(copy, fresh, StandardCopyOption.REPLACE_EXISTING);
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rw-------"));
      // First: a scheduler that finds the copy must know that tasks may be alive which it lacks.
      setBack(why);
      deleteStore(root.resolve(STATUSES + ".replaced"));
      for (String suffix : STORE_FILES) {
        Path old = root.resolve(STATUSES + suffix);
        if (Files.exists(old)) {
          Files.move(old, root.resolve(STATUSES + ".replaced" + suffix));
        }
      }
      AtomicFiles.move(fresh, statusFile());
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  private Path newestEventFile() {
    return root.resolve("newest-event");
  }

  private Path setBackFile() {
    return root.resolve("set-back");
  }

  private Path passedOn() {
    return root.resolve("passed-on");
  }

  /** Returns the absolute path with symbolic links resolved. */
  public Path root() {
    return root;
  }

  /**
   * Returns the id of this directory, which stays the same when it is moved or mounted elsewhere.
   * It is random and generated once.
   */
  public String id() {
    Path file = root.resolve("id");
    try {
      if (!Files.exists(file)) {
        AtomicFiles.replace(file, UUID.randomUUID() + "\n");
      }
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  public Path statusFile() {
    return root.resolve(STATUSES);
  }

  /** The file that says where the owners of subtrees are; it need not exist. */
  public Path subtreeOwnersFile() {
    return root.resolve("subtree-owners");
  }

  public Path epochFile() {
    return root.resolve("epoch");
  }

  /** Returns the directory of the archive, which exists. */
  public Path archive() {
    return createDirectories(root.resolve("archive"));
  }

  /** Returns the directory of log files, which exists. */
  public Path logs() {
    return createDirectories(root.resolve("logs"));
  }

  /**
   * Deletes all statuses and logs, for a fresh start. Must be called before the stores are opened.
   */
  public void forget() {
    try {
      deleteStore(statusFile());
      takeBack();
      List<Path> old = new ArrayList<>();
      try (Stream<Path> files = Files.walk(logs())) {
        files.filter(file -> !file.equals(logs())).forEach(old::add);
      }
      // The content of a directory must be deleted before the directory.
      Collections.reverse(old);
      for (Path file : old) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw unusable(root, e);
    }
  }

  private static void deleteStore(Path file) throws IOException {
    for (String suffix : STORE_FILES) {
      Files.deleteIfExists(file.resolveSibling(file.getFileName() + suffix));
    }
  }

  /** Releases the directory for other processes. */
  @Override
  public void close() {
    try {
      lockChannel.close();
    } catch (IOException e) {
      // The lock ends with the process at the latest, and the error would help nobody.
      return;
    } finally {
      System.getProperties().remove(heldKey);
    }
  }

  private static Path createDirectories(Path path) {
    try {
      if (!Files.isDirectory(path)) {
        // Task data and output may be private, so other users get no access to what we create.
        Path absolute = path.toAbsolutePath();
        if (absolute.getFileSystem().supportedFileAttributeViews().contains("posix")) {
          Files.createDirectories(
              absolute,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
          Files.createDirectories(absolute);
        }
      }
      return path.toRealPath();
    } catch (IOException e) {
      throw unusable(path, e);
    }
  }

  /** Refuses a directory whose files are not ours, such as {@code /etc} or somebody's home. */
  private static void refuseForeign(Path path, Path root) {
    if (MARKS.stream().anyMatch(name -> Files.exists(root.resolve(name)))) {
      return;
    }
    List<String> foreign;
    try (Stream<Path> files = Files.list(root)) {
      foreign =
          files
              .map(file -> String.valueOf(file.getFileName()))
              // A volume that was just mounted has lost+found, and hidden files of its system.
              .filter(name -> !name.startsWith(".") && !name.equals("lost+found"))
              .sorted()
              .limit(NAMES_IN_MESSAGE + 1)
              .toList();
    } catch (IOException e) {
      throw unusable(path, e);
    }
    if (!foreign.isEmpty()) {
      boolean more = foreign.size() > NAMES_IN_MESSAGE;
      throw new DataDirectoryException(
          Reason.UNUSABLE,
          "directory "
              + path
              + " has files that are not Espalier's ("
              + String.join(", ", more ? foreign.subList(0, NAMES_IN_MESSAGE) : foreign)
              + (more ? ", ..." : "")
              + "); choose an empty or new directory with --data-dir",
          null);
    }
  }

  private static FileChannel lock(Path path, Path root, String heldKey) {
    Properties process = System.getProperties();
    // POSIX locks belong to the process and end with the first close of any descriptor of the file.
    // A second opener in this process must therefore not even touch the file, and the owner has its
    // own file.
    if (process.putIfAbsent(heldKey, "held") != null) {
      throw locked(path, root);
    }
    boolean held = false;
    try {
      FileChannel channel =
          FileChannel.open(
              root.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        channel.close();
        throw locked(path, root);
      }
      held = true;
      return channel;
    } catch (IOException e) {
      throw unusable(path, e);
    } finally {
      if (!held) {
        process.remove(heldKey);
      }
    }
  }

  private static DataDirectoryException locked(Path path, Path root) {
    String owner;
    try {
      owner = " (" + Files.readString(root.resolve("owner")).strip() + ")";
    } catch (IOException unknown) {
      owner = "";
    }
    return new DataDirectoryException(
        Reason.LOCKED, "data directory " + path + " is in use by another Espalier" + owner, null);
  }

  private void bind(String source) throws IOException {
    Path record = root.resolve("source");
    if (!Files.exists(record)) {
      AtomicFiles.replace(record, source + "\n");
      return;
    }
    String bound = Files.readString(record).strip();
    if (!bound.equals(source.strip())) {
      throw new DataDirectoryException(
          Reason.OTHER_SOURCE,
          "data directory "
              + root
              + " belongs to "
              + bound
              + ", not to "
              + source
              + "; choose another one with --data-dir",
          null);
    }
  }

  private void writeOwner() throws IOException {
    Files.write(
        root.resolve("owner"),
        ("process " + ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static DataDirectoryException unusable(Path path, IOException e) {
    return new DataDirectoryException(
        Reason.UNUSABLE, "data directory " + path + " cannot be used: " + FileFailures.why(e), e);
  }
}
