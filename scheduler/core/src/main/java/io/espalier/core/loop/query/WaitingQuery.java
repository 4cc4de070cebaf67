package io.espalier.core.loop.query;

import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.WaitReasonScan;
import org.jspecify.annotations.Nullable;

/** A query that makes one pass over the tasks of a job and counts why they wait. */
final class WaitingQuery extends IncrementalQuery<WaitingReasons> {
  private static final int GROUPS = 20;

  private final SchedulingCore core;
  private final String job;
  private @Nullable WaitReasonScan scan;

  WaitingQuery(SchedulingCore core, String job) {
    this.core = core;
    this.job = job;
  }

  @Override
  long step(long nowMillis, int units) {
    WaitReasonScan current = scan;
    if (current == null || current.isStale()) {
      int number = core.findJob(job);
      if (core.job(number) == null) {
        refuseUnknown(job);
        return 1;
      }
      current = core.tasks().waiting(number);
      scan = current;
    }
    long used = current.isDone() ? 1 : current.step(units);
    if (current.isDone()) {
      answer.complete(current.reasons(GROUPS, nowMillis));
    }
    return used;
  }
}
