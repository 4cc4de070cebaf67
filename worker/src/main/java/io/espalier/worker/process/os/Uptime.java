package io.espalier.worker.process.os;

import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * The uptime of this host from {@code /proc/uptime}: a clock that nobody can set and that counts
 * the time in which the host is suspended, in steps of ten milliseconds. Each call reads the file,
 * which takes two microseconds: a cached value could hide a suspension. Thread-safe, and an
 * interrupt does not close it.
 */
public final class Uptime implements AutoCloseable {
  private static final String FILE = "/proc/uptime";

  private final RandomAccessFile file;
  private final byte[] bytes = new byte[64];

  /**
   * @throws IOException when the file is missing or cannot be read
   */
  public Uptime() throws IOException {
    this.file = new RandomAccessFile(FILE, "r");
    long unused = millis();
  }

  /**
   * Returns the milliseconds since the host was started.
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
