package io.espalier.worker.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Atomically replaces files, durable across a power failure. */
public final class AtomicFiles {
  private AtomicFiles() {}

  /** Writes the text so that the file always contains either the old or the new content. */
  public static void replace(Path file, String text) throws IOException {
    replace(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes bytes so that the file always contains either the old or the new content. */
  public static void replace(Path file, byte[] content) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel out =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    rename(fresh, file);
  }

  /** Makes a file that is complete durable under its final name. */
  public static void move(Path fresh, Path file) throws IOException {
    try (FileChannel written = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
      written.force(true);
    }
    rename(fresh, file);
  }

  private static void rename(Path fresh, Path file) throws IOException {
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncEntry(file);
  }

  /** Makes durable that the file is in its directory, or is not. */
  public static void syncEntry(Path file) throws IOException {
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) {
      try (FileChannel directory = FileChannel.open(parent, StandardOpenOption.READ)) {
        directory.force(true);
      }
    }
  }
}
