package io.espalier.server.bench;

/**
 * One point of the paper's Figure 4.
 *
 * @param figure "a" to "d"
 * @param x its place on the axis of the figure
 * @param hosts each with 25 databases, two tasks at a time on a host, one on a database
 * @param taskSeconds the average duration d; tasks take a uniform time in [0, 2d]
 * @param turnovers how many tasks per second the last job shall turn over, whose tasks all need a
 *     resource of the instance node; negative: it is a job like the others
 */
public record PaperPoint(
    String figure, double x, int hosts, int jobs, double taskSeconds, double turnovers) {
  public static final int DATABASES_PER_HOST = 25;
  public static final int HOST_LIMIT = 2;

  /** A task of the turned-over job takes that long where the turnover is high. */
  private static final double SHORTEST_SECONDS = 0.1;

  /** Every slot is used about so many times while throughput is measured. */
  private static final double TURNS = 4;

  /** So long before that, nothing is counted. */
  private static final double WARM_UP_TURNS = 0.5;

  public PaperPoint {
    if (hosts < 1 || jobs < 1 || !(taskSeconds > 0)) {
      throw new IllegalArgumentException("a point needs hosts, jobs and tasks that take time");
    }
  }

  public int leaves() {
    return hosts * DATABASES_PER_HOST;
  }

  /** What the limits allow to run at once. */
  public int slots() {
    return hosts * HOST_LIMIT;
  }

  boolean hasGlobalJob() {
    return turnovers >= 0;
  }

  /** Slots of the resource of the instance node; 0 where nothing is to be turned over. */
  int globalLimit() {
    return turnovers <= 0 ? 0 : Math.max(1, (int) Math.round(turnovers * SHORTEST_SECONDS));
  }

  /** The average duration of the tasks that need it. */
  double globalTaskSeconds() {
    return turnovers <= 0 ? taskSeconds : globalLimit() / turnovers;
  }

  double warmUpSeconds() {
    return taskSeconds * WARM_UP_TURNS;
  }

  /** How long throughput is measured: where turnovers are rare, until there are some. */
  double measuredSeconds() {
    if (turnovers <= 0) {
      return taskSeconds * TURNS;
    }
    return Math.max(2 * taskSeconds, Math.min(12 * taskSeconds, 50 / turnovers));
  }
}
