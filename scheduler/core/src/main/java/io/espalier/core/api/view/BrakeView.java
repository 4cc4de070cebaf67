package io.espalier.core.api.view;

import io.espalier.core.status.store.Brake;
import java.time.Instant;

/**
 * A brake as monitors see it.
 *
 * @param millionths what is left of each limit now; {@link Brake#ONE}: it is over
 * @param durable whether it survives a crash already
 */
public record BrakeView(Brake brake, int millionths, boolean durable) {
  /** Returns what it leaves and where, who set it, until when, and why, in one line. */
  public String message() {
    String left =
        millionths == 0
            ? "nothing starts"
            : Brake.decimal(millionths).movePointRight(2).stripTrailingZeros().toPlainString()
                + " % of each limit is left";
    return left
        + (brake.key().equals(Brake.Key.all()) ? "" : " on " + brake.key())
        + (brake.author().isEmpty() ? "" : ", by " + brake.author())
        + until()
        + (brake.reason().isEmpty() ? "" : ": " + brake.reason());
  }

  private String until() {
    if (brake.releasedMillis() > 0) {
      return ", more by its ramp";
    }
    return brake.untilMillis() > 0 ? ", until " + Instant.ofEpochMilli(brake.untilMillis()) : "";
  }
}
