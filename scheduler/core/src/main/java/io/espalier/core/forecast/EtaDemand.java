package io.espalier.core.forecast;

import io.espalier.core.config.Resource;

/**
 * The work that needs a resource, on each node of its level. Work is in milliseconds times slots.
 */
final class EtaDemand {
  private final Resource resource;
  private final int first;
  private final double[] work;
  private final double[] variance;

  /**
   * @param first the first node
   * @param size number of nodes; of workers, which count as one place, 1
   */
  EtaDemand(Resource resource, int first, int size) {
    this.resource = resource;
    this.first = first;
    work = new double[size];
    variance = new double[size];
  }

  Resource resource() {
    return resource;
  }

  int first() {
    return first;
  }

  int size() {
    return work.length;
  }

  /** Adds tasks of a job, with the slots that each needs. */
  void add(int place, double tasks, int need, JobPace pace) {
    work[place] += tasks * need * pace.taskMillis();
    variance[place] += tasks * need * need * pace.taskVariance();
  }

  double work(int place) {
    return work[place];
  }

  /** Returns the standard deviation of the work. */
  double deviation(int place) {
    return Math.sqrt(variance[place]);
  }
}
