package io.espalier.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A line plot as SVG text. It is a pure function of its data, so that equal figures give equal
 * files. It has one horizontal axis with given ticks and one vertical axis from 0. Every series
 * must have few points.
 */
public final class SvgPlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 440;
  private static final int LEFT = 64;
  private static final int RIGHT = 24;
  private static final int TOP = 64;
  private static final int BOTTOM = 118;

  private final String title;
  private final String subtitle;
  private final String axis;
  private final String verticalAxis;
  private final List<Tick> ticks;
  private final double top;
  private final double step;
  private final List<Series> series = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /** A labelled position on the horizontal axis. */
  public record Tick(double at, String label) {}

  /**
   * A line with a mark at each point.
   *
   * @param colour as in SVG
   * @param dashed whether the values were computed or quoted instead of measured
   */
  public record Series(String name, String colour, boolean dashed, List<double[]> points) {}

  /**
   * @param ticks at least one, ascending
   * @param top maximum of the vertical axis
   * @param step distance between its grid lines
   */
  public SvgPlot(
      String title,
      String subtitle,
      String axis,
      String verticalAxis,
      List<Tick> ticks,
      double top,
      double step) {
    this.title = title;
    this.subtitle = subtitle;
    this.axis = axis;
    this.verticalAxis = verticalAxis;
    this.ticks = List.copyOf(ticks);
    this.top = top;
    this.step = step;
  }

  public SvgPlot add(Series line) {
    series.add(line);
    return this;
  }

  /** Adds a line of text below the legend. */
  public SvgPlot note(String text) {
    notes.add(text);
    return this;
  }

  public String svg() {
    StringBuilder out = new StringBuilder();
    int height = HEIGHT + 18 * (series.size() - 1) + 16 * notes.size();
    out.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
                + " height=\"%d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">%n",
            WIDTH,
            height,
            WIDTH,
            height));
    out.append(
        String.format(
            Locale.ROOT, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>%n", WIDTH, height));
    text(out, LEFT, 28, "start", "font-size=\"17\" font-weight=\"bold\"", title);
    text(out, LEFT, 48, "start", "fill=\"#555\"", subtitle);
    grid(out);
    for (Series line : series) {
      draw(out, line);
    }
    legend(out);
    return out.append("</svg>\n").toString().replace("\r\n", "\n");
  }

  private void grid(StringBuilder out) {
    for (int i = 0; i * step <= top + 1e-9; i++) {
      double value = i * step;
      line(out, LEFT, y(value), WIDTH - RIGHT, y(value), "stroke=\"#ddd\"");
      text(out, LEFT - 8, y(value) + 4, "end", "", String.format(Locale.ROOT, "%.1f", value));
    }
    for (Tick tick : ticks) {
      line(out, x(tick.at), y(0), x(tick.at), y(0) + 5, "stroke=\"#555\"");
      text(out, x(tick.at), y(0) + 20, "middle", "font-size=\"12\"", tick.label);
    }
    line(out, LEFT, y(0), WIDTH - RIGHT, y(0), "stroke=\"#555\"");
    text(out, (LEFT + WIDTH - RIGHT) / 2.0, y(0) + 42, "middle", "", axis);
    double middle = (y(0) + y(top)) / 2;
    text(
        out,
        18,
        middle,
        "middle",
        String.format(Locale.ROOT, "transform=\"rotate(-90 18 %.1f)\"", middle),
        verticalAxis);
  }

  private void draw(StringBuilder out, Series line) {
    StringBuilder path = new StringBuilder();
    for (double[] point : line.points) {
      path.append(
          String.format(
              Locale.ROOT, "%s%.1f,%.1f", path.isEmpty() ? "" : " ", x(point[0]), y(point[1])));
    }
    out.append(
        String.format(
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"%s\"/>%n",
            line.colour, line.dashed ? " stroke-dasharray=\"6 4\"" : "", path));
    for (double[] point : line.points) {
      out.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>%n",
              x(point[0]),
              y(point[1]),
              line.colour));
    }
  }

  private void legend(StringBuilder out) {
    double y = y(0) + 70;
    for (Series line : series) {
      line(
          out,
          LEFT,
          y - 4,
          LEFT + 28,
          y - 4,
          "stroke=\""
              + line.colour
              + "\" stroke-width=\"2\""
              + (line.dashed ? " stroke-dasharray=\"6 4\"" : ""));
      text(out, LEFT + 36, y, "start", "", line.name);
      y += 18;
    }
    for (String note : notes) {
      text(out, LEFT, y + 2, "start", "font-size=\"12\" fill=\"#555\"", note);
      y += 16;
    }
  }

  private double x(double value) {
    double first = ticks.get(0).at;
    double last = ticks.get(ticks.size() - 1).at;
    double part = last > first ? (value - first) / (last - first) : 0.5;
    return LEFT + 18 + part * (WIDTH - LEFT - RIGHT - 36);
  }

  private double y(double value) {
    return HEIGHT - BOTTOM - Math.min(value, top) / top * (HEIGHT - BOTTOM - TOP);
  }

  private static void line(
      StringBuilder out, double x1, double y1, double x2, double y2, String style) {
    out.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>%n",
            x1,
            y1,
            x2,
            y2,
            style));
  }

  private static void text(
      StringBuilder out, double x, double y, String anchor, String style, String text) {
    out.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>%n",
            x,
            y,
            anchor,
            style,
            text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
  }
}
