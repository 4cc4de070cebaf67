package io.espalier.e2e.drill;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The disk of a host, with the data directory of its program: a small file system in memory, so
 * that it can be full; or just a directory, where that cannot be mounted.
 */
final class Disk implements AutoCloseable {
  private static final String SIZE = "size=64m";

  private final Path root;
  private final boolean isMounted;
  private boolean isFull;
  private boolean hasSaved;

  private Disk(Path root, boolean isMounted) {
    this.root = root;
    this.isMounted = isMounted;
  }

  static Disk in(Path directory) throws IOException {
    Files.createDirectories(directory);
    String problem =
        Shell.tryToRun("mount", "-t", "tmpfs", "-o", SIZE, "espalier-drill", directory.toString());
    if (problem != null) {
      System.err.println("SKIPPED: full disks, this machine mounts nothing: " + problem);
    }
    return new Disk(directory, problem == null);
  }

  /** The data directory. */
  Path data() {
    return root.resolve("data");
  }

  boolean isFull() {
    return isFull;
  }

  /** Fills it to the last byte; false when it is full, or cannot be. */
  boolean fill() {
    if (!isMounted || isFull) {
      return false;
    }
    isFull = true;
    try (OutputStream out = Files.newOutputStream(filler())) {
      for (byte[] zeros = new byte[1 << 16]; ; ) {
        out.write(zeros);
      }
    } catch (IOException e) {
      // So it should be: there is no space left.
      return true;
    }
  }

  /** Undoes {@link #fill}. */
  void empty() {
    try {
      Files.deleteIfExists(filler());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    isFull = false;
  }

  private Path filler() {
    return root.resolve("filler");
  }

  /** Puts a copy in place of the data directory, as after a move from another disk. */
  void replaceByCopy() {
    Shell.run("cp", "-a", data().toString(), root.resolve("copy").toString());
    Shell.run("rm", "-r", data().toString());
    Shell.run("mv", root.resolve("copy").toString(), data().toString());
  }

  /** Keeps a copy of files of the data directory; no process may be using them. */
  void save(List<String> files) {
    hasSaved = copied(files, data(), saved()) > 0;
  }

  boolean hasSaved() {
    return hasSaved;
  }

  /** Puts the files back as they were at {@link #save}. */
  void setBack(List<String> files) {
    int unused = copied(files, saved(), data());
  }

  /** Beside the disk, which may be full. */
  private Path saved() {
    return root.resolveSibling(root.getFileName() + "-saved");
  }

  private static int copied(List<String> files, Path from, Path to) {
    int copied = 0;
    try {
      Files.createDirectories(to);
      for (String file : files) {
        Files.deleteIfExists(to.resolve(file));
        if (Files.exists(from.resolve(file))) {
          Files.copy(from.resolve(file), to.resolve(file));
          copied++;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return copied;
  }

  @Override
  public void close() {
    if (isMounted) {
      // Lazily: what still has a file open in it lets go of it later.
      Shell.run("umount", "-l", root.toString());
    }
  }
}
