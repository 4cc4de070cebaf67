package io.espalier.core.scheduling.reservation;

/**
 * Capacity that jobs share in addition to the nodes of the tree, and of which lighter jobs may
 * starve heavier ones: the caps of queues, or the slots of workers. It consists of places, each of
 * which can be reserved for one job; {@link CapacityReservations} decides when.
 */
interface ReservableCapacity {
  /**
   * Returns the bits of the jobs that others can starve here and that have reservations enabled.
   */
  long heavy(int word);

  /** Returns the bits of the jobs that fit now. */
  long open(int word);

  /** Returns the bits of the jobs that the preceding stages let start. */
  long before(int word);

  /** Returns the best place to reserve for a job; -1: no suitable place is unreserved. */
  int placeFor(int job);

  /** Returns whether a place is reserved for a job; the place may have disappeared. */
  boolean isKept(int place, int job);

  /** Returns whether a place reserved for a job still exists and can suffice eventually. */
  boolean suits(int place, int job);

  /** Reserves what the job needs of a place. */
  void keep(int place, int job);

  /** Ends the reservation of the place, if it is reserved for this job. */
  void free(int place, int job);

  String name(int place);

  /** Returns the place of a name if it can be reserved for the job, or -1. */
  int again(String name, int job);
}
