package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opens and closes the windows of jobs in virtual time. */
final class ForecastWindows {
  private final SchedulingCore core;
  private final Map<String, OpenTimes> times = new LinkedHashMap<>();
  private long next;

  ForecastWindows(SchedulingCore core) {
    this.core = core;
    Config config = core.config();
    for (Job job : config.jobs().values()) {
      List<Schedule> schedules = config.settings().schedules(job);
      if (!schedules.stream().allMatch(Schedule::isAlways)) {
        times.put(job.name(), new OpenTimes(schedules));
      }
    }
    next = times.isEmpty() ? Long.MAX_VALUE : 0;
  }

  void step(long nowMillis) {
    if (nowMillis < next) {
      return;
    }
    next = Long.MAX_VALUE;
    times.forEach(
        (job, open) -> {
          Opening opening = open.next(nowMillis, 0);
          boolean isOpen = opening != null && opening.fromMillis() <= nowMillis;
          if (isOpen) {
            core.open(GateKind.JOB_WINDOW, job);
          } else {
            core.close(Gate.of(GateKind.JOB_WINDOW, job, ""));
          }
          if (opening != null) {
            next = Math.min(next, isOpen ? opening.toMillis() : opening.fromMillis());
          }
        });
  }

  /** Returns when the next window opens or closes; {@link Long#MAX_VALUE}: never. */
  long nextMillis() {
    return next;
  }
}
