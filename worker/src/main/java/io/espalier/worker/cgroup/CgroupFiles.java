package io.espalier.worker.cgroup;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads and writes the small files of control groups. */
final class CgroupFiles {
  private CgroupFiles() {}

  /** Writes a value. It never creates a file: a missing file means an unsupported feature. */
  static void write(Path file, String value) throws IOException {
    if (!Files.exists(file)) {
      throw new NoSuchFileException(file.toString(), null, "no such file");
    }
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(value.getBytes(StandardCharsets.US_ASCII));
    }
  }

  static String read(Path file) throws IOException {
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
  }

  /** Returns the number in a file; -1 when it cannot be read, or is no number, such as "max". */
  static long number(Path file) {
    try {
      return Long.parseLong(read(file));
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
  }

  /** Returns the number after a word that begins a line; -1 when there is no such line. */
  static long field(Path file, String name) {
    try {
      for (String line : read(file).split("\n", -1)) {
        if (line.startsWith(name + " ")) {
          return Long.parseLong(line.substring(name.length() + 1).strip());
        }
      }
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
    return -1;
  }

  /**
   * Returns the pids, without those of other pid namespaces (0); empty when the group is gone.
   *
   * @throws IOException when the group exists and cannot be read
   */
  static List<Long> pids(Path procs) throws IOException {
    List<Long> pids = new ArrayList<>();
    try {
      for (String line : read(procs).split("\n", -1)) {
        if (!line.isEmpty() && !line.equals("0")) {
          pids.add(Long.parseLong(line));
        }
      }
    } catch (IOException e) {
      if (!Files.notExists(procs)) {
        throw e;
      }
    } catch (NumberFormatException e) {
      throw new IOException(procs + ": " + e.getMessage(), e);
    }
    return pids;
  }

  /**
   * Returns the group itself and all groups below it, deepest first.
   *
   * @throws IOException when the group exists and cannot be listed
   */
  static List<Path> tree(Path group) throws IOException {
    List<Path> tree = new ArrayList<>();
    collect(group, tree);
    return tree;
  }

  private static void collect(Path group, List<Path> into) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(group, Files::isDirectory)) {
      for (Path entry : entries) {
        collect(entry, into);
      }
    } catch (IOException | DirectoryIteratorException e) {
      if (!Files.notExists(group)) {
        throw e instanceof DirectoryIteratorException wrapped
            ? wrapped.getCause()
            : (IOException) e;
      }
    }
    into.add(group);
  }

  /** Returns the reason without the path, which the caller has named already. */
  static String reason(IOException e) {
    if (e instanceof FileSystemException f) {
      return f.getReason() == null ? f.getClass().getSimpleName() : f.getReason();
    }
    String message = String.valueOf(e.getMessage());
    int open = message.lastIndexOf('(');
    return open >= 0 && message.endsWith(")")
        ? message.substring(open + 1, message.length() - 1)
        : message;
  }
}
