package io.espalier.worker.process;

import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * How long this host is up, by {@code /proc/uptime}: a clock that nobody can set and that counts
 * the time in which the host is suspended. In steps of ten milliseconds. Each look is a read of the
 * file, of two microseconds: what is remembered for a while could hide a suspension. Thread-safe,
 * and an interrupt does not close it.
 */
public final class Uptime implements AutoCloseable {
  private static final String FILE = "/proc/uptime";

  private final RandomAccessFile file;
  private final byte[] bytes = new byte[64];

  /**
   * @throws IOException where there is no such file, or it cannot be read
   */
  public Uptime() throws IOException {
    this.file = new RandomAccessFile(FILE, "r");
    long unused = millis();
  }

  /**
   * Milliseconds since the host was started.
   *
   * @throws IOException when it cannot be read
   */
  public synchronized long millis() throws IOException {
    file.seek(0);
    int length = file.read(bytes);
    // Seconds with two decimals, and a blank.
    long hundredths = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        hundredths = hundredths * 10 + (bytes[i] - '0');
      } else if (bytes[i] == ' ' && i > 0) {
        return hundredths * 10;
      } else if (bytes[i] != '.') {
        break;
      }
    }
    throw new IOException(FILE + " has no time");
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
