package io.espalier.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The four parts of the paper's Figure 4. */
enum PaperFigure {
  A("average task duration", "seconds"),
  B("leaf nodes", "millions"),
  C("concurrent jobs", ""),
  D("tasks with a global resource", "turnovers per second");

  private static final double HOSTS_PER_MILLION = 1e6 / PaperPoint.DATABASES_PER_HOST;

  private final String what;
  private final String unit;

  PaperFigure(String what, String unit) {
    this.what = what;
    this.unit = unit;
  }

  /** Returns the label of the horizontal axis. */
  String axis() {
    return unit.isEmpty() ? what : what + " (" + unit + ")";
  }

  /** Returns the name on the command line and in files. */
  String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Describes what all points of the figure share in the paper. */
  String setting() {
    return switch (this) {
      case A -> "3 M leaves, 10 jobs";
      case B -> "5 jobs, tasks of 5 s";
      case C -> "3 M leaves, tasks of 5 s";
      case D -> "300,000 leaves, 5 jobs, tasks of 5 s";
    };
  }

  /**
   * Returns what the paper reports for the figure, as far as it is readable in numbers.
   *
   * @return lines of text
   */
  List<String> paper() {
    return switch (this) {
      case A, B, C ->
          List.of(
              "paper: 10 schedulers with 16 cores each; tree scheduling near 1 with enough threads,",
              "falling fast where threads do not keep up; brute force stable, well below 1");
      case D ->
          List.of(
              "paper: one scheduler with 16 cores, 0 to 50 turnovers per minute; its worst case: tree",
              "scheduling is no better than brute force");
    };
  }

  /**
   * Returns how long one pass of the paper's brute force takes: 5 s for 300,000 leaves x 5 jobs, on
   * each of ten schedulers in (a) to (c), on one in (d).
   */
  double bruteForceSeconds(PaperPoint point) {
    double schedulers = this == D ? 1 : 10;
    return 5.0 * (point.leaves() / schedulers / 300_000) * (point.jobs() / 5.0);
  }

  /**
   * Returns the throughput of a scheduler that evaluates everything in every pass: a free slot
   * waits half a pass until it is seen and one pass until it is assigned.
   */
  double bruteForceThroughput(PaperPoint point) {
    return point.taskSeconds() / (point.taskSeconds() + 1.5 * bruteForceSeconds(point));
  }

  /**
   * Returns the points of the figure.
   *
   * @param scale fraction of the leaves to use; 1: as many as in the paper
   */
  List<PaperPoint> points(double scale) {
    List<PaperPoint> points = new ArrayList<>();
    switch (this) {
      case A -> {
        for (int d = 1; d <= 10; d++) {
          points.add(new PaperPoint(key(), d, hosts(3, scale), 10, d, -1));
        }
      }
      case B -> {
        for (int millions = 1; millions <= 10; millions++) {
          points.add(new PaperPoint(key(), millions, hosts(millions, scale), 5, 5, -1));
        }
      }
      case C -> {
        for (int jobs = 1; jobs <= 10; jobs++) {
          points.add(new PaperPoint(key(), jobs, hosts(3, scale), jobs, 5, -1));
        }
      }
      case D -> {
        for (double perMinute : new double[] {0, 10, 20, 30, 40, 50}) {
          points.add(
              new PaperPoint(key(), perMinute / 60, hosts(0.3, scale), 5, 5, perMinute / 60));
        }
        for (double perSecond : new double[] {10, 100, 1_000, 10_000}) {
          // A small tree has too few slots for that many turnovers.
          double turnovers = perSecond * Math.min(1, scale);
          points.add(new PaperPoint(key(), turnovers, hosts(0.3, scale), 5, 5, turnovers));
        }
      }
    }
    return points;
  }

  private static int hosts(double millions, double scale) {
    return (int) Math.max(1, Math.round(millions * HOSTS_PER_MILLION * scale));
  }
}
