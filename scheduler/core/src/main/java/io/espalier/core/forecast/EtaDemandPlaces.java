package io.espalier.core.forecast;

import io.espalier.core.config.Job;

/** The places of an {@link EtaDemand} where tasks of one job wait. */
final class EtaDemandPlaces implements EtaPlaces {
  private final EtaDemand demand;
  private final WorkLeft left;
  private final EtaScan scan;
  private final EtaClosed closed;
  private final JobPace pace;
  private final int need;

  /**
   * @param scan a complete one of the job
   * @param closed must be complete before anything is asked
   */
  EtaDemandPlaces(
      EtaDemand demand, WorkLeft left, Job job, JobPace pace, EtaScan scan, EtaClosed closed) {
    this.demand = demand;
    this.left = left;
    this.scan = scan;
    this.closed = closed;
    this.pace = pace;
    need = demand.need(job);
  }

  @Override
  public int size() {
    return need > 0 ? demand.size() : 0;
  }

  @Override
  public double millis(int place) {
    return millis(place, 0);
  }

  @Override
  public double nextMillis(int place) {
    return millis(place, 1);
  }

  private double millis(int place, int more) {
    int node = demand.first() + place;
    if (scan.own(node) <= 0 || closed.isClosed(node)) {
      return 0; // Nothing waits for slots here that a slot more would let start.
    }
    double limit = demand.limit(left, place);
    double tooMuch = demand.work(closed.tasksBelow(node), need, pace);
    boolean isLimit = demand.isOfStarts() || limit >= need;
    return isLimit ? Math.max(0, demand.work(place) - tooMuch) / (limit + more) : 0;
  }

  @Override
  public EtaPlace place(int place) {
    int node = demand.isOfNodes() ? demand.first() + place : -1;
    double limit = demand.limit(left, place);
    return new EtaPlace(
        demand.kind(),
        node,
        node < 0 ? "" : left.topology().levels().name(demand.level()),
        demand.queue(),
        demand.resource(),
        limit,
        limit / need,
        Math.sqrt(demand.variance(place)) / limit);
  }
}
