package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import org.jspecify.annotations.Nullable;

/**
 * The work that one limit is for: slots of a resource on each node of its level, on all workers or
 * of a queue, the running tasks of a queue, or starts below each node of a level. Work is in
 * milliseconds times slots; a start is the work of a second, so that the limit is the rate.
 */
final class EtaDemand {
  private static final double START_MILLIS = 1_000;

  private final Kind kind;
  private final @Nullable Resource resource;
  private final int level;
  private final String queue;
  private final double rate;
  private final int first;
  private final double[] work;
  private final double[] variance;

  private EtaDemand(
      Kind kind,
      @Nullable Resource resource,
      int level,
      String queue,
      double rate,
      int first,
      int size) {
    this.kind = kind;
    this.resource = resource;
    this.level = level;
    this.queue = queue;
    this.rate = rate;
    this.first = first;
    work = new double[size];
    variance = new double[size];
  }

  /**
   * @param first the first node of the resource's level
   * @param size number of nodes
   */
  static EtaDemand ofNodes(Resource resource, int first, int size) {
    return new EtaDemand(Kind.RESOURCE, resource, resource.level(), "", 0, first, size);
  }

  static EtaDemand ofWorkers(Resource resource) {
    return new EtaDemand(Kind.WORKERS, resource, 0, "", 0, 0, 1);
  }

  /**
   * @param resource null: the running tasks
   * @param level the lowest one with tasks that do not need the resource
   */
  static EtaDemand ofQueue(String queue, @Nullable Resource resource, int level) {
    return new EtaDemand(Kind.QUEUE, resource, level, queue, 0, 0, 1);
  }

  static EtaDemand ofStarts(int level, StartRate rate, int first, int size) {
    return new EtaDemand(Kind.LEVEL_START_RATE, null, level, "", rate.perSecond(), first, size);
  }

  Kind kind() {
    return kind;
  }

  /** Returns the resource; null: running tasks or starts are limited. */
  @Nullable Resource resource() {
    return resource;
  }

  /** Returns the level of the nodes. */
  int level() {
    return level;
  }

  /** Returns the queue; empty: none. */
  String queue() {
    return queue;
  }

  /** Returns whether the places are nodes; otherwise there is one place for all tasks. */
  boolean isOfNodes() {
    return kind == Kind.RESOURCE || kind == Kind.LEVEL_START_RATE;
  }

  /** Returns whether starts are limited, and not what runs at once. */
  boolean isOfStarts() {
    return kind == Kind.LEVEL_START_RATE;
  }

  /** Returns the first node. */
  int first() {
    return first;
  }

  int size() {
    return work.length;
  }

  /** Returns the slots that a task of a job needs; 0: the limit does not concern the job. */
  int need(Job job) {
    boolean concerns =
        kind == Kind.WORKERS
            || (level <= job.level()
                && (queue.isEmpty() || queue.equals(job.scheduling().queue())));
    int need = resource == null ? 1 : job.needs().get(resource.index());
    return concerns ? need : 0;
  }

  /** Adds tasks of a job, with the slots that each needs. */
  void add(int place, double tasks, int need, JobPace pace) {
    work[place] += work(tasks, need, pace);
    variance[place] += isOfStarts() ? 0 : tasks * need * need * pace.taskVariance();
  }

  /** Returns the work of tasks of a job. */
  double work(double tasks, int need, JobPace pace) {
    return tasks * need * (isOfStarts() ? START_MILLIS / pace.finishing() : pace.taskMillis());
  }

  double work(int place) {
    return work[place];
  }

  double variance(int place) {
    return variance[place];
  }

  /** Returns the limit in effect at a place. */
  double limit(WorkLeft left, int place) {
    Resource of = resource;
    return switch (kind) {
      case LEVEL_START_RATE -> rate;
      case QUEUE -> left.ofQueue(queue, of);
      case WORKERS -> of == null ? 0 : left.ofWorkers(of);
      default -> of == null ? 0 : left.limit(first + place, of.index());
    };
  }
}
