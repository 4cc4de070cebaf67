package io.espalier.worker.agent;

import io.espalier.core.protocol.ClockReading;
import io.espalier.worker.process.os.Uptime;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The three clocks of this host. */
final class HostClocks implements AutoCloseable {
  private final Uptime uptime;

  /**
   * @throws IOException when {@code /proc/uptime} is missing
   */
  HostClocks() throws IOException {
    this.uptime = new Uptime();
  }

  ClockReading now() {
    try {
      return new ClockReading(
          System.nanoTime() / 1_000_000, uptime.millis(), System.currentTimeMillis());
    } catch (IOException e) {
      throw new UncheckedIOException("/proc/uptime cannot be read any more", e);
    }
  }

  @Override
  public void close() throws IOException {
    uptime.close();
  }
}
