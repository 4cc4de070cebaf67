package io.espalier.cli.bench;

import io.espalier.cli.bench.SvgPlot.Series;
import io.espalier.cli.bench.SvgPlot.Tick;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Formats the experiment for readers: rows of a table, JSON, and a plot per figure. Does no I/O.
 */
final class PaperReport {
  /** The target for every point. */
  static final double TARGET = 0.99;

  /**
   * The results of the released scheduler on a machine with 2 cores: 1, 5 and 10 jobs on 300,000
   * leaves, d = 5 s.
   */
  private static final double[][] RELEASED = {{1, 0.80}, {5, 0.68}, {10, 0.61}};

  private PaperReport() {}

  /** Returns the heading of a figure: what it varies, and its columns. */
  static String heading(PaperFigure figure, WorkClock.Kind clock) {
    StringBuilder out = new StringBuilder();
    out.append("Figure 4 (").append(figure.key()).append("): ").append(figure.axis());
    out.append("; ").append(figure.setting()).append('\n');
    figure.paper().forEach(line -> out.append("  ").append(line).append('\n'));
    out.append(
        String.format(
            "%10s %11s %5s %11s %11s %10s %10s %10s",
            figure == PaperFigure.D ? "turnovers" : column(figure),
            "leaves",
            "jobs",
            "possible/s",
            "achieved/s",
            "throughput",
            "slots used",
            "brute f.*"));
    if (figure == PaperFigure.D) {
      out.append(String.format(" %12s", "turned over"));
    }
    if (clock != WorkClock.Kind.NONE) {
      out.append(String.format(" %9s %9s", "us/start", "headroom"));
    }
    return out.toString();
  }

  private static String column(PaperFigure figure) {
    return switch (figure) {
      case A -> "d in s";
      case B -> "M leaves";
      case C -> "jobs";
      case D -> "turnovers";
    };
  }

  /** Returns one line of the table. */
  static String row(PaperFigure figure, PaperResult result) {
    PaperPoint point = result.point();
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            "%10s %,11d %5d %,11.0f %,11.0f %10.4f %10.4f %10.2f",
            label(figure, point),
            point.leaves(),
            point.jobs(),
            result.possiblePerSecond(),
            result.endedPerSecond(),
            result.throughput(),
            result.used(),
            figure.bruteForceThroughput(point)));
    if (figure == PaperFigure.D) {
      out.append(String.format(Locale.ROOT, " %,10.2f/s", result.turnovers()));
    }
    if (result.workNanos() > 0) {
      out.append(
          String.format(Locale.ROOT, " %9.2f %8.1fx", result.microsPerStart(), result.headroom()));
    }
    return out.toString();
  }

  static String label(PaperFigure figure, PaperPoint point) {
    double x = point.x();
    if (figure != PaperFigure.D) {
      return String.format(Locale.ROOT, "%.0f", x);
    }
    if (x == 0) {
      return "none";
    }
    return x < 1
        ? String.format(Locale.ROOT, "%.0f/min", x * 60)
        : String.format(Locale.ROOT, "%,.0f/s", x);
  }

  /** Explains the columns. */
  static String legend(WorkClock.Kind clock) {
    String charged =
        switch (clock) {
          case CPU -> "its processor time";
          case WALL -> "the time by the clock";
          case NONE -> "nothing";
        };
    return """

        possible/s   what the limits allow: slots / average duration
        throughput   achieved / possible, the paper's normalised throughput
        slots used   part of the slots' time in which a task ran: the same without the chance in the durations
        brute f.*    not measured: computed from the paper's 5 s per pass over 300,000 leaves x 5 jobs
        """
        + (clock == WorkClock.Kind.NONE
            ? "The scheduler's work takes no virtual time (--clock none).\n"
            : "us/start     the scheduler's work per task, its end included\n"
                + "headroom     virtual seconds per second of the scheduler's work; below 1 it is too slow\n"
                + "Every slice of the scheduler's work takes "
                + charged
                + " in virtual time as well.\n");
  }

  /**
   * Returns all results as one object.
   *
   * @param scale fraction of the leaves
   */
  static Json.Obj json(List<PaperResult> results, double scale, long seed, WorkClock.Kind clock) {
    List<Json> points = new ArrayList<>();
    for (PaperResult result : results) {
      PaperFigure figure = PaperFigure.valueOf(result.point().figure().toUpperCase(Locale.ROOT));
      points.add(result.toJson(figure.bruteForceThroughput(result.point())));
    }
    return Json.object()
        .put("experiment", "paper")
        .put("scale", scale)
        .put("seed", seed)
        .put("clock", clock.toString())
        .put("target", TARGET)
        .put("met", met(results))
        .put("points", new Json.Arr(points))
        .build();
  }

  /** Returns true when every point uses its slots as the target requires. */
  static boolean met(List<PaperResult> results) {
    return results.stream().allMatch(result -> result.used() >= TARGET);
  }

  private static String scaled(PaperFigure figure, List<PaperResult> results) {
    double paper = figure.points(1).get(0).leaves();
    double scale = results.get(0).point().leaves() / paper;
    return scale == 1 ? "" : String.format(Locale.ROOT, ", leaves scaled by %.2g", scale);
  }

  /**
   * Returns the plot of one figure as SVG.
   *
   * @param results of all its points; at least one
   */
  static String plot(PaperFigure figure, List<PaperResult> results) {
    List<Tick> ticks = new ArrayList<>();
    List<double[]> ours = new ArrayList<>();
    List<double[]> brute = new ArrayList<>();
    double worst = Double.MAX_VALUE;
    for (int i = 0; i < results.size(); i++) {
      PaperResult result = results.get(i);
      // Turnovers span four decades and begin at 0: spaced evenly, with their labels.
      double at = figure == PaperFigure.D ? i : result.point().x();
      ticks.add(new Tick(at, label(figure, result.point())));
      ours.add(new double[] {at, result.throughput()});
      brute.add(new double[] {at, figure.bruteForceThroughput(result.point())});
      worst = result.headroom() > 0 ? Math.min(worst, result.headroom()) : worst;
    }
    SvgPlot plot =
        new SvgPlot(
            "Figure 4 (" + figure.key() + "): " + figure.axis(),
            figure.setting() + scaled(figure, results) + "; one process, one thread",
            figure.axis(),
            "normalised throughput",
            ticks,
            1.1,
            0.1);
    plot.add(
        new Series(
            "Espalier, virtual time"
                + (worst < Double.MAX_VALUE
                    ? String.format(Locale.ROOT, "; headroom %.1fx or more", worst)
                    : ""),
            "#1b7837",
            false,
            ours));
    plot.add(
        new Series(
            "brute force, computed from the paper's 5 s per pass (300,000 leaves x 5 jobs)",
            "#b35806",
            true,
            brute));
    if (figure == PaperFigure.C) {
      plot.add(
          new Series(
              "Bistro as released, measured on 2 cores with 300,000 leaves",
              "#7b3294",
              true,
              List.of(RELEASED)));
    }
    figure.paper().forEach(plot::note);
    return plot.svg();
  }
}
