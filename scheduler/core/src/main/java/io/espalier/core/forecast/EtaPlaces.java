package io.espalier.core.forecast;

/**
 * The places where one limit keeps tasks of a job waiting, such as all nodes of a level with their
 * slots of a resource. The job cannot end before the work at each of them is done at the full limit
 * there. For one thread.
 */
interface EtaPlaces {
  /** Returns the number of places. */
  int size();

  /**
   * Runs a slice of what must be computed before anything else is asked.
   *
   * @param units about how many nodes and members of groups to visit
   * @return how many were visited; 0: it is complete
   */
  default int prepare(int units) {
    return 0;
  }

  /** Returns how long the work at a place takes; 0: no task of the job waits there. */
  double millis(int place);

  /** Returns the same with a limit that is higher by one. */
  double nextMillis(int place);

  /** Returns a place where tasks wait. */
  EtaPlace place(int place);
}
