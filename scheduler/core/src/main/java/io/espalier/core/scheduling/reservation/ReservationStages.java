package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.Renumbering;
import java.util.ArrayList;
import java.util.List;

/**
 * The reservations of capacity other than nodes: those in queues first, then those on workers.
 * Capacity is always acquired in this order, with the nodes in between from the bottom up, so jobs
 * cannot deadlock.
 */
public final class ReservationStages {
  private final QueueCapacity queueRoom;
  private final CapacityReservations ofQueues;
  private final CapacityReservations ofWorkers;

  public ReservationStages(ReservationContext context) {
    queueRoom = new QueueCapacity(context.queues(), context.jobs());
    ofQueues = new CapacityReservations(context, queueRoom);
    ofWorkers =
        new CapacityReservations(
            context,
            new WorkerPoolCapacity(
                context.workers(), context.workerTable(), context.queues(), context.jobs()));
  }

  public CapacityReservations queues() {
    return ofQueues;
  }

  public CapacityReservations workers() {
    return ofWorkers;
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
    ofQueues.clockRuns();
    ofWorkers.clockRuns();
  }

  /** Handles a running task that has been registered for a job. */
  public void started(int job) {
    ofQueues.started(job);
    ofWorkers.started(job);
  }

  /** Handles a job that has become inactive. */
  public void stopped(int job) {
    ofQueues.stopped(job);
    ofWorkers.stopped(job);
  }

  /** Handles an in-place update, which may change the limits of queues. */
  public void changed() {
    queueRoom.changed();
    ofQueues.changed();
  }

  /** Sets the clock. */
  public void clockIs(long nowMillis) {
    ofQueues.clockIs(nowMillis);
    ofWorkers.clockIs(nowMillis);
  }

  /**
   * Finds the waits that are over; returns true when no timer that is due is left.
   *
   * @param limit the maximum number of timers to handle
   */
  public boolean advance(int limit) {
    boolean done = ofQueues.advance(limit);
    return ofWorkers.advance(limit) && done;
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  public long nextTick() {
    return Math.min(ofQueues.nextTick(), ofWorkers.nextTick());
  }

  /** Takes over the waits and reservations of the previous state. */
  public void takeOver(ReservationStages before, Renumbering numbers) {
    ofQueues.takeOver(before.ofQueues, numbers);
    ofWorkers.takeOver(before.ofWorkers, numbers);
  }

  /** Returns the reservations, in queues first. */
  public List<CapacityReservation> kept() {
    List<CapacityReservation> all = new ArrayList<>(ofQueues.kept(CapacityReservation.Kind.QUEUE));
    all.addAll(ofWorkers.kept(CapacityReservation.Kind.WORKER));
    return all;
  }

  /**
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    ofQueues.check();
    ofWorkers.check();
  }
}
