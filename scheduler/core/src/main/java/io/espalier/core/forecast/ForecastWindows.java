package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.window.NodeWindowGates;
import io.espalier.core.scheduling.window.WindowCutoff;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Opens and closes the windows of jobs and nodes in virtual time, and counts those of jobs that
 * have closed while tasks of the job were left.
 */
final class ForecastWindows {
  private final SchedulingCore core;
  private final List<Timed> times = new ArrayList<>();
  private final NodeWindowGates nodes;
  private long next;

  /** A job with windows. */
  private static final class Timed {
    final String job;
    final OpenTimes times;

    /** How long its tasks must be able to run before a window closes. */
    final long cutoffMillis;

    /** When the window closes in which tasks could start last; {@link Long#MAX_VALUE}: it has. */
    long closesMillis = Long.MAX_VALUE;

    long missed;

    Timed(String job, OpenTimes times, long cutoffMillis) {
      this.job = job;
      this.times = times;
      this.cutoffMillis = cutoffMillis;
    }
  }

  ForecastWindows(SchedulingCore core, Map<String, JobPace> paces) {
    this.core = core;
    ToLongFunction<Job> takes =
        job ->
            WindowCutoff.of(
                job.scheduling(), paces.getOrDefault(job.name(), JobPace.constant(0))::mostMillis);
    // Paces are those of the copy throughout.
    nodes = new NodeWindowGates(core, takes, Long.MAX_VALUE);
    Config config = core.config();
    for (Job job : config.jobs().values()) {
      List<Schedule> schedules = config.settings().schedules(job);
      if (!schedules.stream().allMatch(Schedule::isAlways)) {
        times.add(new Timed(job.name(), new OpenTimes(schedules), takes.applyAsLong(job)));
      }
    }
    next = times.isEmpty() ? Long.MAX_VALUE : 0;
  }

  void step(long nowMillis) {
    if (nowMillis >= next) {
      next = Long.MAX_VALUE;
      times.forEach(timed -> step(timed, nowMillis));
    }
    do {
      nodes.step(nowMillis);
    } while (nodes.isBehind());
  }

  private void step(Timed timed, long nowMillis) {
    if (nowMillis >= timed.closesMillis) {
      timed.closesMillis = Long.MAX_VALUE;
      int job = core.findJob(timed.job);
      timed.missed += job >= 0 && core.tasks().progress(job).left() > 0 ? 1 : 0;
    }
    Opening opening = timed.times.next(nowMillis, timed.cutoffMillis);
    if (opening != null && opening.fromMillis() <= nowMillis) {
      core.gates().open(GateKind.JOB_WINDOW, timed.job);
      timed.closesMillis = opening.toMillis();
    } else {
      core.gates().close(Gate.of(GateKind.JOB_WINDOW, timed.job, ""));
    }
    if (opening != null) {
      long changes =
          opening.fromMillis() <= nowMillis
              ? WindowCutoff.closedFrom(opening.toMillis(), timed.cutoffMillis)
              : opening.fromMillis();
      next = Math.min(next, changes);
    }
    next = Math.min(next, timed.closesMillis);
  }

  /**
   * Returns how many windows of a job have closed in which its tasks could start, while tasks of it
   * were left.
   */
  long missed(String job) {
    return times.stream()
        .filter(timed -> timed.job.equals(job))
        .mapToLong(timed -> timed.missed)
        .sum();
  }

  /** Returns when the next window opens or closes; {@link Long#MAX_VALUE}: never. */
  long nextMillis() {
    return Math.min(next, nodes.nextMillis());
  }
}
