package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.Renumbering;
import java.util.ArrayList;
import java.util.List;

/** The reservations of capacity other than nodes: those in queues first, then those of workers. */
public final class ReservationStages {
  private final QueueReservations ofQueues;
  private final WorkerReservations ofWorkers;
  private final List<CapacityReservations> all;

  public ReservationStages(ReservationContext context) {
    ofQueues = new QueueReservations(context);
    ofWorkers = new WorkerReservations(context);
    all = List.of(ofQueues, ofWorkers);
  }

  public CapacityReservations queues() {
    return ofQueues;
  }

  public CapacityReservations workers() {
    return ofWorkers;
  }

  /** Returns whether a worker is reserved for a job, or may be once it has waited long enough. */
  public boolean mayGetWorker(int job) {
    return ofWorkers.hopes(job);
  }

  /** Begins a round, before the policy is called. */
  public void roundBegins() {
    ofQueues.roundBegins();
    ofWorkers.roundBegins();
  }

  /** Ends a round; until the clock is set again, its time may be outdated. */
  public void roundOver() {
    ofQueues.roundOver();
    ofWorkers.roundOver();
    all.forEach(each -> each.engine().roundOver());
  }

  /** Handles a running task that has been registered for a job, or a job that is inactive. */
  public void ended(int job) {
    ofQueues.ended(job);
    ofWorkers.ended(job);
  }

  /** Handles an in-place update, which may change the limits of queues. */
  public void changed() {
    ofQueues.changed();
  }

  /** Sets the clock. */
  public void clockIs(long nowMillis) {
    all.forEach(each -> each.engine().clockIs(nowMillis));
  }

  /**
   * Finds the waits that are over; returns true when no timer that is due is left.
   *
   * @param limit the maximum number of timers to handle for queues, and for workers
   */
  public boolean advance(int limit) {
    boolean done = ofQueues.engine().advance(limit);
    return ofWorkers.engine().advance(limit) && done;
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  public long nextTick() {
    return Math.min(ofQueues.engine().nextTick(), ofWorkers.engine().nextTick());
  }

  /** Takes over the waits and reservations of the previous state. */
  public void takeOver(ReservationStages before, Renumbering numbers) {
    ofQueues.takeOver(before.ofQueues, numbers);
    ofWorkers.takeOver(before.ofWorkers, numbers);
  }

  /** Returns the reservations, in queues first. */
  public List<CapacityReservation> kept() {
    List<CapacityReservation> kept = new ArrayList<>();
    all.forEach(each -> kept.addAll(each.kept()));
    return kept;
  }

  /**
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    all.forEach(CapacityReservations::check);
  }
}
