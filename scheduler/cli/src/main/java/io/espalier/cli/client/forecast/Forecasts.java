package io.espalier.cli.client.forecast;

import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.Forecast.JobEnd;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The forecasts of several seeds.
 *
 * @param runs at least one
 */
record Forecasts(List<Forecast> runs) {
  /** The text for what does not end within the horizon, or never. */
  static final long NEVER = Long.MAX_VALUE;

  Forecasts {
    runs = List.copyOf(runs);
  }

  List<String> jobs() {
    return runs.get(0).jobs().keySet().stream().sorted().toList();
  }

  /** Returns when all tasks that can end have ended, in this part of the runs. */
  long makespan(double part) {
    return quantile(part, run -> run.isComplete() ? lastEnd(run) : NEVER);
  }

  private static long lastEnd(Forecast run) {
    return run.jobs().values().stream().mapToLong(JobEnd::millis).max().orElse(0);
  }

  /** Returns when the last task of a job has ended, in this part of the runs. */
  long end(String job, double part) {
    return quantile(part, run -> end(run, job));
  }

  private static long end(Forecast run, String job) {
    JobEnd end = run.jobs().get(job);
    return end == null || end.left() > 0 ? NEVER : end.millis();
  }

  private long quantile(double part, ToLongFunction<Forecast> value) {
    long[] sorted = runs.stream().mapToLong(value).sorted().toArray();
    return sorted[Math.min(sorted.length - 1, (int) Math.ceil(part * sorted.length) - 1)];
  }

  /** Returns the most tasks of a job that any run has left. */
  long left(String job) {
    return runs.stream().mapToLong(run -> left(run, job)).max().orElse(0);
  }

  private static long left(Forecast run, String job) {
    JobEnd end = run.jobs().get(job);
    return end == null ? 0 : end.left();
  }

  /** Returns the most windows that a job misses in any run. */
  long windowsMissed(String job) {
    return runs.stream().mapToLong(run -> windowsMissed(run, job)).max().orElse(0);
  }

  private static long windowsMissed(Forecast run, String job) {
    JobEnd end = run.jobs().get(job);
    return end == null ? 0 : end.windowsMissed();
  }

  /** Returns the jobs that have tasks left and start none, in any run. */
  List<String> starved() {
    List<String> starved = new ArrayList<>();
    for (String job : jobs()) {
      boolean any =
          runs.stream()
              .map(run -> run.jobs().get(job))
              .anyMatch(end -> end != null && end.left() > 0 && end.starts() == 0);
      if (any) {
        starved.add(job);
      }
    }
    return starved;
  }

  boolean isComplete() {
    return runs.stream().allMatch(Forecast::isComplete);
  }

  /** Returns the run whose makespan is in the middle. */
  Forecast typical() {
    List<Forecast> sorted =
        runs.stream().sorted(Comparator.comparingLong(Forecasts::lastEnd)).toList();
    return sorted.get(sorted.size() / 2);
  }
}
