package io.espalier.worker.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Which worker processes have used a data directory: whoever holds its lock, and has verified that
 * nothing lives of what they started, can say so to the scheduler.
 */
final class InstanceFile {
  private static final int KEPT = 64;

  private InstanceFile() {}

  /**
   * Adds this process, durably.
   *
   * @return those before it, oldest first
   */
  static List<Long> enter(Path file, long instance) throws IOException {
    List<Long> earlier = new ArrayList<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        try {
          earlier.add(Long.parseUnsignedLong(line, 16));
        } catch (NumberFormatException e) {
          throw new IOException(file + " is damaged: " + line, e);
        }
      }
    }
    List<Long> kept =
        new ArrayList<>(earlier.subList(Math.max(0, earlier.size() - KEPT + 1), earlier.size()));
    List<Long> before = List.copyOf(kept);
    kept.add(instance);
    StringBuilder text = new StringBuilder();
    kept.forEach(id -> text.append(Long.toHexString(id)).append('\n'));
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel out =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel directory = FileChannel.open(file.toAbsolutePath().getParent())) {
      directory.force(true);
    }
    return before;
  }
}
