package io.espalier.worker.call;

import io.espalier.worker.process.os.Uptime;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Until when calls may be sent, by two clocks; without an end until it is set. Thread-safe. */
final class SendLease {
  private static final Logger LOG = LoggerFactory.getLogger(SendLease.class);

  private volatile @Nullable End end;

  private record End(long uptimeHundredths, long clockMillis) {}

  /**
   * Moves the end to the earlier of these instants.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  void set(long uptimeHundredths, long clockMillis) {
    end = new End(uptimeHundredths, clockMillis);
  }

  /** Returns whether nothing may be sent any more, also when the uptime cannot be read. */
  boolean hasEnded() {
    End at = end;
    if (at == null) {
      return false;
    }
    try (Uptime uptime = new Uptime()) {
      return System.currentTimeMillis() >= at.clockMillis()
          || uptime.millis() >= at.uptimeHundredths() * 10;
    } catch (IOException e) {
      LOG.error("no call is sent: /proc/uptime cannot be read", e);
      return true;
    }
  }
}
