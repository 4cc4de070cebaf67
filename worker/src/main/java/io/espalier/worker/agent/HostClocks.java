package io.espalier.worker.agent;

import io.espalier.core.protocol.Instants;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The three clocks of this host. Not thread-safe. */
final class HostClocks implements AutoCloseable {
  private final FileChannel uptime;
  private final ByteBuffer buffer = ByteBuffer.allocate(64);

  /**
   * @throws IOException where {@code /proc/uptime} is missing
   */
  HostClocks() throws IOException {
    this.uptime = FileChannel.open(Path.of("/proc/uptime"));
    long unused = uptimeMillis();
  }

  Instants now() {
    try {
      return new Instants(
          System.nanoTime() / 1_000_000, uptimeMillis(), System.currentTimeMillis());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException("/proc/uptime cannot be read any more", e);
    }
  }

  /** Time since the host started, suspension included: seconds with two decimals. */
  private long uptimeMillis() throws IOException {
    buffer.clear();
    if (uptime.read(buffer, 0) <= 0) {
      throw new IOException("/proc/uptime is empty");
    }
    String text =
        new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII).strip();
    String seconds = text.substring(0, text.indexOf(' '));
    int point = seconds.indexOf('.');
    return Long.parseLong(seconds.substring(0, point)) * 1_000
        + Long.parseLong(seconds.substring(point + 1)) * 10;
  }

  @Override
  public void close() throws IOException {
    uptime.close();
  }
}
