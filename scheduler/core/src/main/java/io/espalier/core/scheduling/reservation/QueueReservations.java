package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.queue.QueueLimit;
import io.espalier.core.scheduling.queue.QueueTable;
import java.util.Arrays;

/**
 * Reservations of slots under the caps of queues. They come first, because a reservation costs only
 * the other jobs of the queue.
 */
final class QueueReservations extends CapacityReservations {
  private final ReservationContext context;
  private final QueueTable queues;

  QueueReservations(ReservationContext context) {
    super(context, CapacityReservation.Kind.QUEUE);
    this.context = context;
    queues = context.queues();
    findHeavy();
  }

  private void findHeavy() {
    Arrays.fill(heavy, 0);
    for (int q = 0; q < queues.count(); q++) {
      QueueLimit[] caps = queues.queue(q).caps();
      StarvableJobs.mark(
          heavy,
          context.jobs(),
          queues.queue(q).jobs,
          job -> Arrays.stream(caps).mapToInt(cap -> queues.need(job, cap.resource)).toArray());
    }
  }

  /** Handles an in-place update, which may change the caps of queues. */
  void changed() {
    findHeavy();
    dropLight();
  }

  @Override
  long open(int word) {
    return queues.open(word);
  }

  @Override
  long before(int word) {
    return -1L;
  }

  @Override
  int places() {
    return queues.count();
  }

  @Override
  String name(int place) {
    return queues.queue(place).name;
  }

  @Override
  int holder(int place) {
    return queues.queue(place).holder;
  }

  @Override
  void keepFor(int place, int job) {
    queues.keepFor(place, job);
  }

  @Override
  boolean isEnough(int place, int job) {
    // This query comes first, because it applies pending changes.
    queues.open(job >>> 6);
    return queues.ofJob(job) == place
        && Arrays.stream(queues.queue(place).caps())
            .allMatch(cap -> queues.need(job, cap.resource) <= cap.cap());
  }

  @Override
  int placeFor(int job) {
    int queue = queues.ofJob(job);
    return holder(queue) < 0 && isEnough(queue, job) ? queue : -1;
  }
}
