package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.window.WindowCutoff;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The delay that the windows of a job cause: those of the job, of its queue and of the settings.
 * Windows of nodes are not part of it. For one thread.
 */
final class JobWindows {
  /** After this many windows the rest is extrapolated. */
  private static final int MOST_OPENINGS = 400;

  private final @Nullable OpenTimes times;
  private final long cutoffMillis;
  private final double restMillis;

  JobWindows(Config config, Job job, JobPace pace) {
    List<Schedule> schedules = config.settings().schedules(job);
    times = schedules.stream().allMatch(Schedule::isAlways) ? null : new OpenTimes(schedules);
    cutoffMillis = times == null ? 0 : WindowCutoff.of(job.scheduling(), pace::mostMillis);
    restMillis = pace.restMillis();
  }

  /**
   * Returns how much later the last task starts than it would without windows.
   *
   * @param startMillis after how long it would start without windows
   * @return milliseconds; infinite when no more windows open, or none is long enough for a task
   */
  double delayMillis(long nowMillis, double startMillis) {
    if (times == null) {
      return 0;
    }
    double left = startMillis;
    long at = nowMillis;
    for (int i = 0; i < MOST_OPENINGS; i++) {
      Opening opening = times.next(at, cutoffMillis);
      if (opening == null) {
        return Double.POSITIVE_INFINITY;
      }
      long closes = WindowCutoff.closedFrom(opening.toMillis(), cutoffMillis);
      if (left <= closes - opening.fromMillis()) {
        return (opening.fromMillis() - nowMillis) + (left - startMillis);
      }
      // The tasks that run when it closes go on to their ends.
      left -= closes - opening.fromMillis() + restMillis;
      if (left <= 0) {
        return closes - nowMillis - startMillis;
      }
      at = opening.toMillis();
    }
    double done = startMillis - left;
    return (at - nowMillis) * (startMillis / done) - startMillis;
  }
}
