package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The redundancy groups in which tasks of a job wait. A member is busy for as long as its narrowest
 * resource, or the narrowest below it, takes for its work. Of a group, the members in which the job
 * has tasks are busy one after the other, as many at a time as may be. What other jobs do on other
 * members is not counted.
 */
final class EtaGroups implements EtaPlaces {
  /** With more slots, chance has no part in when the last task of a member ends. */
  private static final int MOST_SLOTS = 64;

  private static final double HALF = 0.5;

  private final GroupMembers groups;
  private final WorkLeft left;
  private final Topology nodes;
  private final EtaScan scan;
  private final EtaClosed closed;
  private final Job job;
  private final JobPace pace;

  /** By level: the demands of its resources. */
  private final List<List<EtaDemand>> ofLevel = new ArrayList<>();

  /** By node: how long tasks run on it or below it, and the variance of that. */
  private final double[] busy;

  private final double[] variance;

  // By group: what the times are of the members with tasks, in all, at most and at least.

  private final int[] members;
  private final double[] all;
  private final double[] longest;
  private final double[] least;
  private final double[] variances;

  /** By number of slots: how much longer the last task takes than an average one; -1: not known. */
  private final double[] tails = new double[MOST_SLOTS + 1];

  /** The next node, from the lowest up; then the next group, and its next member. */
  private int node;

  private int group;
  private int member;

  /**
   * @param scan a complete one of the job
   * @param closed must be complete before anything is asked
   */
  EtaGroups(
      GroupMembers groups, WorkLeft left, Job job, JobPace pace, EtaScan scan, EtaClosed closed) {
    this.groups = groups;
    this.left = left;
    this.scan = scan;
    this.closed = closed;
    this.job = job;
    this.pace = pace;
    nodes = left.topology();
    for (int level = 0; level < nodes.levels().count(); level++) {
      ofLevel.add(new ArrayList<>());
    }
    for (EtaDemand demand : scan.demands()) {
      if (demand.isOfNodes() && demand.resource() != null) {
        ofLevel.get(demand.level()).add(demand);
      }
    }
    busy = new double[scan.size()];
    variance = new double[scan.size()];
    int count = groups.groupCount();
    members = new int[count];
    all = new double[count];
    longest = new double[count];
    least = new double[count];
    variances = new double[count];
    Arrays.fill(tails, -1);
    node = busy.length - 1;
  }

  static EtaPlace place(
      GroupMembers groups, int group, String level, double limit, double deviationMillis) {
    String name = groups.rules().get(groups.kind(group)).name() + " " + groups.name(group);
    return new EtaPlace(Kind.GROUP, -1, level, name, null, limit, 1, deviationMillis);
  }

  @Override
  public int size() {
    return members.length;
  }

  @Override
  public int prepare(int units) {
    int used = 0;
    for (; used < units && node >= 0; used++) {
      visit(node--);
    }
    for (; used < units && group < members.length; used++) {
      if (member == groups.size(group)) {
        group++;
        member = 0;
      } else {
        count(groups.memberOf(group, member++));
      }
    }
    return used;
  }

  /** Adds up how long a node is busy, and tells its parent, which is busy meanwhile. */
  private void visit(int at) {
    double tasks = scan.own(at);
    if (tasks <= 0 || closed.isClosed(at)) {
      return;
    }
    double first = Math.min(1, tasks) * pace.taskMillis();
    busy[at] = Math.max(busy[at], first);
    for (EtaDemand demand : ofLevel.get(nodes.level(at))) {
      int place = at - demand.first();
      double limit = demand.limit(left, place);
      if (limit > 0 && demand.work(place) / limit > 0) {
        double slots = limit / Math.max(1, demand.need(job));
        double millis = demand.work(place) / limit + (tasks > slots ? tail(slots) : 0);
        if (millis > busy[at]) {
          busy[at] = millis;
          variance[at] = demand.variance(place) / (limit * limit);
        }
      }
    }
    // A task of a node with several parents keeps only one of them busy.
    int parent = nodes.slotCount(at) == 1 ? nodes.parent(nodes.slot(at, 0)) : -1;
    if (parent >= 0 && busy[at] > busy[parent]) {
      busy[parent] = busy[at];
      variance[parent] = variance[at];
    }
  }

  /** Returns how much longer the last of some tasks at a time takes than the average one. */
  private double tail(double slots) {
    int count = (int) Math.max(1, Math.min(MOST_SLOTS, slots));
    if (tails[count] < 0) {
      double last = pace.restQuantile(Math.pow(HALF, 1.0 / count));
      tails[count] = Math.max(0, last - pace.restMillis());
    }
    return tails[count];
  }

  private void count(int of) {
    int at = groups.node(of, level(group));
    if (at < busy.length && busy[at] > 0) {
      least[group] = members[group] == 0 ? busy[at] : Math.min(least[group], busy[at]);
      longest[group] = Math.max(longest[group], busy[at]);
      members[group]++;
      all[group] += busy[at];
      variances[group] += variance[at];
    }
  }

  private int level(int of) {
    return groups.rules().get(groups.kind(of)).level();
  }

  @Override
  public double millis(int place) {
    int limit = left.groupLimit(place);
    return limit == 0 || limit >= members[place] ? 0 : millis(place, limit);
  }

  @Override
  public double nextMillis(int place) {
    return millis(place, left.groupLimit(place) + 1);
  }

  /** Of m members with c busy at once, at least m / c, rounded up, follow each other. */
  private double millis(int place, int limit) {
    double inTurn = Math.ceil((double) members[place] / limit) * least[place];
    return Math.max(Math.max(longest[place], inTurn), all[place] / limit);
  }

  @Override
  public EtaPlace place(int place) {
    int limit = left.groupLimit(place);
    String level = nodes.levels().name(level(place));
    return place(groups, place, level, limit, Math.sqrt(variances[place]) / limit);
  }
}
