package io.espalier.core.scheduling.reservation;

/**
 * What jobs share beside the nodes of the tree, and may be starved of by lighter ones: what a queue
 * may hold, or the slots of workers. It consists of places, each of which may be kept for one job;
 * {@link CapacityReservations} decides when.
 */
interface ReservableCapacity {
  /** Bits of the jobs that others can starve here, and that want something to be done about it. */
  long heavy(int word);

  /** Bits of the jobs that there is room for now. */
  long open(int word);

  /** Bits of the jobs that could start as far as what has to be had before this goes. */
  long before(int word);

  /** The place that is best kept for a job; -1: none suits it that is not kept already. */
  int placeFor(int job);

  /** Whether a place is kept for a job: it may have gone. */
  boolean isKept(int place, int job);

  /** Whether a place that is kept for a job is still there, and can be enough for it one day. */
  boolean suits(int place, int job);

  /** From now on others get only what the job does not need. */
  void keep(int place, int job);

  /** The place is kept for that job no more, if it was. */
  void free(int place, int job);

  String name(int place);

  /** The place of that name if it can be kept for a job; -1: there is none. */
  int again(String name, int job);
}
