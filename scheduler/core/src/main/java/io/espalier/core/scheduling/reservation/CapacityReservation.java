package io.espalier.core.scheduling.reservation;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A reservation of capacity in a queue or on a worker for a heavy job
 * (docs/adr/0035-reservations.md).
 *
 * @param name the name of the queue, or of the worker's shard
 * @param sinceMillis since when the reservation has existed
 * @param waitsSinceMillis since when the job has been waiting for it
 */
public record CapacityReservation(
    Kind kind, String name, String job, long sinceMillis, long waitsSinceMillis) {
  /** Formats an instant as in reasons. */
  public static String shown(long millis) {
    return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** The kind of capacity that is reserved. */
  public enum Kind {
    /** Slots under the caps of a queue. */
    QUEUE,

    /** Slots of a worker. */
    WORKER
  }
}
