package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.Renumbering;
import java.util.ArrayList;
import java.util.List;

/**
 * All room that jobs share beside nodes, and that may be kept for one of them: that of the queues
 * first, then that of the workers. What is had in this order, with the nodes in between from below
 * upwards, cannot end in jobs that wait for each other.
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

  /** A policy is about to be asked. */
  public void roundBegins() {
    ofQueues.roundBegins();
    ofWorkers.roundBegins();
  }

  /** It was, and from now on it may be later than was told. */
  public void roundOver() {
    ofQueues.roundOver();
    ofWorkers.roundOver();
    ofQueues.clockRuns();
    ofWorkers.clockRuns();
  }

  /** A task of a job takes its place. */
  public void started(int job) {
    ofQueues.started(job);
    ofWorkers.started(job);
  }

  /** A job is active no more. */
  public void stopped(int job) {
    ofQueues.stopped(job);
    ofWorkers.stopped(job);
  }

  /** Another configuration in place: queues may have other limits. */
  public void changed() {
    queueRoom.changed();
    ofQueues.changed();
  }

  /** It is that late now. */
  public void clockIs(long nowMillis) {
    ofQueues.clockIs(nowMillis);
    ofWorkers.clockIs(nowMillis);
  }

  /**
   * Finds the waits that are over; returns whether that was all.
   *
   * @param limit how many timers to look at
   */
  public boolean advance(int limit) {
    boolean done = ofQueues.advance(limit);
    return ofWorkers.advance(limit) && done;
  }

  /** {@link Long#MAX_VALUE}: never. */
  public long nextTick() {
    return Math.min(ofQueues.nextTick(), ofWorkers.nextTick());
  }

  /** Goes on where the world before has come to. */
  public void takeOver(ReservationStages before, Renumbering numbers) {
    ofQueues.takeOver(before.ofQueues, numbers);
    ofWorkers.takeOver(before.ofWorkers, numbers);
  }

  /** What is kept for whom: queues first. */
  public List<CapacityReservation> kept() {
    List<CapacityReservation> all = new ArrayList<>(ofQueues.kept(CapacityReservation.Kind.QUEUE));
    all.addAll(ofWorkers.kept(CapacityReservation.Kind.WORKER));
    return all;
  }

  /**
   * @throws IllegalStateException names the first difference
   */
  public void check() {
    ofQueues.check();
    ofWorkers.check();
  }
}
