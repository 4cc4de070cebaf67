package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.window.WindowCutoff;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The delay that the windows of a job cause from an instant on: those of the job, of its queue and
 * of the settings. Windows of nodes are not part of it. The windows are found one by one, so that
 * the caller can do it in slices. For one thread.
 */
final class JobWindows {
  /** After this many windows the rest is extrapolated. */
  private static final int MOST_FOUND = 400;

  private final @Nullable OpenTimes times;
  private final long nowMillis;
  private final long cutoffMillis;
  private final double restMillis;
  private final List<Found> found = new ArrayList<>();

  /** Whether no window follows those that were found. */
  private boolean noneFollows;

  /**
   * A window in which tasks start.
   *
   * @param opening the window
   * @param closesMillis when the last task may start in it
   * @param beforeMillis how much of the work is over when it opens
   * @param workMillis the same once the tasks have ended that run when it closes
   */
  private record Found(
      Opening opening, long closesMillis, double beforeMillis, double workMillis) {}

  JobWindows(Config config, Job job, JobPace pace, long nowMillis) {
    List<Schedule> schedules = config.settings().schedules(job);
    times = schedules.stream().allMatch(Schedule::isAlways) ? null : new OpenTimes(schedules);
    cutoffMillis = times == null ? 0 : WindowCutoff.of(job.scheduling(), pace::mostMillis);
    restMillis = pace.restMillis();
    this.nowMillis = nowMillis;
  }

  /**
   * Returns whether enough windows are known for {@link #delayMillis}.
   *
   * @param startMillis the longest time to be asked for
   */
  boolean isKnown(double startMillis) {
    return times == null
        || noneFollows
        || found.size() == MOST_FOUND
        || (!found.isEmpty() && last().workMillis >= startMillis);
  }

  /** Finds the next window, if there is one. */
  void findNext() {
    Found before = found.isEmpty() ? null : last();
    Opening opening =
        times == null
            ? null
            : times.next(before == null ? nowMillis : before.opening.toMillis(), cutoffMillis);
    if (opening == null) {
      noneFollows = true;
      return;
    }
    long closes = WindowCutoff.closedFrom(opening.toMillis(), cutoffMillis);
    double done = before == null ? 0 : before.workMillis;
    // The tasks that run when it closes go on to their ends.
    double after = done + (closes - opening.fromMillis()) + restMillis;
    found.add(new Found(opening, closes, done, after));
  }

  private Found last() {
    return found.get(found.size() - 1);
  }

  /**
   * Returns how much later the last task starts than it would without windows.
   *
   * @param startMillis after how long it would start without windows; must be known
   * @return milliseconds; infinite when no more windows open, or none is long enough for a task
   */
  double delayMillis(double startMillis) {
    if (times == null) {
      return 0;
    }
    for (Found window : found) {
      double left = startMillis - window.beforeMillis;
      if (left <= window.closesMillis - window.opening.fromMillis()) {
        return (window.opening.fromMillis() - nowMillis) + (left - startMillis);
      }
      if (startMillis <= window.workMillis) {
        return window.closesMillis - nowMillis - startMillis;
      }
    }
    return noneFollows
        ? Double.POSITIVE_INFINITY
        : (last().opening.toMillis() - nowMillis) * (startMillis / last().workMillis) - startMillis;
  }
}
