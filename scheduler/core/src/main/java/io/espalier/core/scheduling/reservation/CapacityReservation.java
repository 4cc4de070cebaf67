package io.espalier.core.scheduling.reservation;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Room in a queue or on a worker that is kept free for a heavy job (docs/adr/0035-reservations.md).
 *
 * @param name of the queue, or of the worker's shard
 * @param sinceMillis since when it has been kept
 * @param waitsSinceMillis since when the job has been waiting for it
 */
public record CapacityReservation(
    Kind kind, String name, String job, long sinceMillis, long waitsSinceMillis) {
  /** An instant as reasons show it. */
  public static String shown(long millis) {
    return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** What there is room in. */
  public enum Kind {
    /** What a queue may hold. */
    QUEUE,

    /** Slots of a worker. */
    WORKER
  }
}
