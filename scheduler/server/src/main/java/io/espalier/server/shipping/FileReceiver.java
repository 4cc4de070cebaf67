package io.espalier.server.shipping;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Appends JSON lines to a file, durably. It opens the file for every call, so that the file may be
 * renamed at any time.
 */
final class FileReceiver implements LogReceiver {
  private final Path file;

  FileReceiver(Path file) {
    this.file = file;
  }

  @Override
  public void send(List<Line> lines) throws IOException {
    StringBuilder text = new StringBuilder();
    try (FileChannel out =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (endsWithinLine(out)) {
        // A crash, or a full disk, has cut the last call. Its lines follow again.
        text.append('\n');
      }
      lines.forEach(line -> text.append(line.json()).append('\n'));
      ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
      long at = out.size();
      while (bytes.hasRemaining()) {
        at += out.write(bytes, at);
      }
      out.force(false);
    }
  }

  private static boolean endsWithinLine(FileChannel out) throws IOException {
    ByteBuffer last = ByteBuffer.allocate(1);
    return out.size() > 0 && out.read(last, out.size() - 1) == 1 && last.get(0) != '\n';
  }

  @Override
  public void close() {}
}
