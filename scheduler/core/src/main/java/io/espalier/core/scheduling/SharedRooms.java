package io.espalier.core.scheduling;

import java.util.ArrayList;
import java.util.List;

/**
 * All room that jobs share beside nodes, and that may be kept for one of them: that of the queues
 * first, then that of the workers. What is had in this order, with the nodes in between from below
 * upwards, cannot end in jobs that wait for each other.
 */
final class SharedRooms {
  private final QueueRoom queueRoom;
  private final RoomReservations ofQueues;
  private final RoomReservations ofWorkers;

  SharedRooms(ReservationContext context) {
    queueRoom = new QueueRoom(context.queues(), context.jobs());
    ofQueues = new RoomReservations(context, queueRoom);
    ofWorkers =
        new RoomReservations(
            context, new WorkerRoom(context.workers(), context.workerTable(), context.queues(), context.jobs()));
  }

  RoomReservations queues() {
    return ofQueues;
  }

  RoomReservations workers() {
    return ofWorkers;
  }

  /** A policy is about to be asked. */
  void roundBegins() {
    ofQueues.roundBegins();
    ofWorkers.roundBegins();
  }

  /** It was, and from now on it may be later than was told. */
  void roundOver() {
    ofQueues.roundOver();
    ofWorkers.roundOver();
    ofQueues.clockRuns();
    ofWorkers.clockRuns();
  }

  /** A task of a job takes its place. */
  void started(int job) {
    ofQueues.started(job);
    ofWorkers.started(job);
  }

  /** A job is active no more. */
  void stopped(int job) {
    ofQueues.stopped(job);
    ofWorkers.stopped(job);
  }

  /** Another configuration in place: queues may have other limits. */
  void changed() {
    queueRoom.changed();
    ofQueues.changed();
  }

  /** It is that late now. */
  void clockIs(long nowMillis) {
    ofQueues.clockIs(nowMillis);
    ofWorkers.clockIs(nowMillis);
  }

  /**
   * Finds the waits that are over; returns whether that was all.
   *
   * @param limit how many timers to look at
   */
  boolean advance(int limit) {
    boolean done = ofQueues.advance(limit);
    return ofWorkers.advance(limit) && done;
  }

  /** {@link Long#MAX_VALUE}: never. */
  long nextTick() {
    return Math.min(ofQueues.nextTick(), ofWorkers.nextTick());
  }

  /** Goes on where the world before has come to. */
  void takeOver(SharedRooms before, Renumbering numbers) {
    ofQueues.takeOver(before.ofQueues, numbers);
    ofWorkers.takeOver(before.ofWorkers, numbers);
  }

  /** What is kept for whom: queues first. */
  List<KeptRoom> kept() {
    List<KeptRoom> all = new ArrayList<>(ofQueues.kept(KeptRoom.Kind.QUEUE));
    all.addAll(ofWorkers.kept(KeptRoom.Kind.WORKER));
    return all;
  }

  /**
   * @throws IllegalStateException names the first difference
   */
  void check() {
    ofQueues.check();
    ofWorkers.check();
  }
}
