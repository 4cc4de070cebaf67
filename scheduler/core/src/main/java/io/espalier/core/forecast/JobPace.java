package io.espalier.core.forecast;

import java.util.List;

/**
 * How long the invocations of a job take, and how many of them finish their task.
 *
 * @param millis durations of equal weight, ascending, at least one
 * @param finishing the part of the invocations whose task is over with them, above 0 and at most 1;
 *     after the others the task starts again
 */
public record JobPace(List<Long> millis, double finishing) {
  /** The number of durations that stand for all of a job. */
  public static final int QUANTILES = 64;

  private static final double MOST = 0.95;

  public JobPace {
    millis = List.copyOf(millis);
    if (millis.isEmpty() || !(finishing > 0 && finishing <= 1)) {
      throw new IllegalArgumentException("no pace: " + millis + ", " + finishing);
    }
  }

  /** Returns the pace of tasks that all take as long, and succeed. */
  public static JobPace constant(long millis) {
    return new JobPace(List.of(millis), 1);
  }

  /** Returns the mean duration of an invocation, in milliseconds. */
  public double meanMillis() {
    return millis.stream().mapToLong(Long::longValue).average().orElse(0);
  }

  /**
   * Draws the duration of an invocation.
   *
   * @param chance from 0 to below 1
   */
  long draw(double chance) {
    return millis.get((int) (chance * millis.size()));
  }

  /**
   * Draws how long an invocation goes on that has run for a while: it is one of those that take
   * longer. One that has outlasted them all goes on for as long as it has run.
   *
   * @param chance from 0 to below 1
   */
  long drawRest(long elapsedMillis, double chance) {
    int from = 0;
    while (from < millis.size() && millis.get(from) <= elapsedMillis) {
      from++;
    }
    int longer = millis.size() - from;
    return longer == 0
        ? Math.max(1, elapsedMillis)
        : millis.get(from + (int) (chance * longer)) - elapsedMillis;
  }

  /** Returns the mean square of the durations, in square milliseconds. */
  private double meanSquare() {
    return millis.stream().mapToDouble(each -> (double) each * each).average().orElse(0);
  }

  /** Returns the mean time that a task takes with all its invocations, in milliseconds. */
  double taskMillis() {
    return meanMillis() / finishing;
  }

  /** Returns the variance of the time that a task takes, in square milliseconds. */
  double taskVariance() {
    double mean = meanMillis();
    double again = (1 - finishing) / finishing;
    return Math.max(0, meanSquare() - mean * mean) / finishing + mean * mean * again / finishing;
  }

  /** Returns the mean rest of an invocation at a random moment, in milliseconds. */
  double restMillis() {
    double mean = meanMillis();
    return mean <= 0 ? 0 : meanSquare() / (2 * mean);
  }

  /** Returns the rest that this part of the invocations at a random moment do not exceed. */
  double restQuantile(double part) {
    double sum = meanMillis() * millis.size();
    double low = 0;
    double high = millis.get(millis.size() - 1);
    for (int i = 0; i < 40 && sum > 0; i++) {
      double middle = (low + high) / 2;
      double longer = 0;
      for (long each : millis) {
        longer += Math.max(0, each - middle);
      }
      if (longer / sum > 1 - part) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return sum > 0 ? high : 0;
  }

  /**
   * Returns the duration that most invocations do not exceed, in milliseconds: windows count on it,
   * in forecasts as in the loop.
   */
  long mostMillis() {
    return (long) quantile(MOST);
  }

  /** Returns the duration that this part of the invocations do not exceed, in milliseconds. */
  double quantile(double part) {
    return millis.get(Math.min(millis.size() - 1, (int) (part * millis.size())));
  }
}
