package io.espalier.core.api.view;

import io.espalier.core.status.store.Brake;
import java.time.Instant;
import java.util.List;

/**
 * A brake as monitors see it.
 *
 * @param millionths what is left of each limit now; {@link Brake#ONE}: it is over
 * @param durable whether it survives a crash already
 * @param unconfirmed the workers that have not confirmed it, by name: they may start what they were
 *     given before, until their lease ends
 */
public record BrakeView(Brake brake, int millionths, boolean durable, List<String> unconfirmed) {
  private static final int NAMED = 3;

  public BrakeView {
    unconfirmed = List.copyOf(unconfirmed);
  }

  /** Returns what it leaves and where, who set it, until when, and why, in one line. */
  public String message() {
    String left =
        millionths == 0
            ? "nothing starts"
            : Brake.decimal(millionths).movePointRight(2).stripTrailingZeros().toPlainString()
                + " % of each limit is left";
    return left
        + (brake.throttlesRunning() ? running() : "")
        + (brake.key().equals(Brake.Key.all()) ? "" : " on " + brake.key())
        + (brake.author().isEmpty() ? "" : ", by " + brake.author())
        + until()
        + (brake.reason().isEmpty() ? "" : ": " + brake.reason())
        + unconfirmedWorkers();
  }

  private String running() {
    return millionths == 0 ? ", and running tasks pause" : ", and running tasks slow down to it";
  }

  private String unconfirmedWorkers() {
    if (unconfirmed.isEmpty()) {
      return "";
    }
    int more = unconfirmed.size() - NAMED;
    return " (not confirmed by "
        + String.join(", ", unconfirmed.subList(0, Math.min(NAMED, unconfirmed.size())))
        + (more > 0 ? " and " + more + " more workers)" : ")");
  }

  private String until() {
    if (brake.releasedMillis() > 0) {
      return ", more by its ramp";
    }
    return brake.untilMillis() > 0 ? ", until " + Instant.ofEpochMilli(brake.untilMillis()) : "";
  }
}
