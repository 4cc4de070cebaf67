package io.espalier.cli.bench;

/**
 * One point of the paper's Figure 4.
 *
 * @param figure "a" to "d"
 * @param x its position on the axis of the figure
 * @param hosts number of hosts, each with 25 databases; two tasks at a time on a host, one on a
 *     database
 * @param taskSeconds the average duration d; tasks take a uniform time in [0, 2d]
 * @param turnovers target rate, in tasks per second, of the last job, whose tasks all need a
 *     resource of the instance node; negative: it is a job like the others
 */
record PaperPoint(
    String figure, double x, int hosts, int jobs, double taskSeconds, double turnovers) {
  static final int DATABASES_PER_HOST = 25;
  static final int HOST_LIMIT = 2;

  /** The duration of a task of the turned-over job when the turnover is high. */
  private static final double SHORTEST_SECONDS = 0.1;

  /** The average number of uses of every slot during the measurement. */
  private static final double TURNS = 4;

  /** The number of uses of every slot before the measurement starts. */
  private static final double WARM_UP_TURNS = 0.5;

  PaperPoint {
    if (hosts < 1 || jobs < 1 || !(taskSeconds > 0)) {
      throw new IllegalArgumentException("a point needs hosts, jobs and tasks that take time");
    }
  }

  int leaves() {
    return hosts * DATABASES_PER_HOST;
  }

  /** Returns the number of tasks that the limits allow to run at once. */
  int slots() {
    return hosts * HOST_LIMIT;
  }

  boolean hasGlobalJob() {
    return turnovers >= 0;
  }

  /** Returns the slots of the instance node's resource; 0 without turnovers. */
  int globalLimit() {
    return turnovers <= 0 ? 0 : Math.max(1, (int) Math.round(turnovers * SHORTEST_SECONDS));
  }

  /** Returns the average duration of the tasks that need it. */
  double globalTaskSeconds() {
    return turnovers <= 0 ? taskSeconds : globalLimit() / turnovers;
  }

  double warmUpSeconds() {
    return taskSeconds * WARM_UP_TURNS;
  }

  /** Returns the duration of the measurement; it is longer when turnovers are rare. */
  double measuredSeconds() {
    if (turnovers <= 0) {
      return taskSeconds * TURNS;
    }
    return Math.max(2 * taskSeconds, Math.min(12 * taskSeconds, 50 / turnovers));
  }
}
