package io.espalier.core.loop.query;

import io.espalier.core.api.view.JobActivity;
import io.espalier.core.loop.state.ActivityScan;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;

/** A query about the last hour of a job, or of all jobs: a pass over the live tasks. */
final class ActivityQuery extends IncrementalQuery<JobActivity> {
  private final SchedulingCore core;
  private final ActivityScan scan;
  private final String job;

  ActivityQuery(SchedulingCore core, LiveTasks live, Throughput throughput, String job) {
    this.core = core;
    scan = new ActivityScan(throughput, live, job);
    this.job = job;
  }

  @Override
  long step(long nowMillis, int units) {
    if (!job.isEmpty() && core.job(core.findJob(job)) == null) {
      refuseUnknown(job);
      return 1;
    }
    long used = 1L + scan.step(nowMillis, units);
    if (scan.isDone()) {
      answer.complete(scan.activity(nowMillis));
    }
    return used;
  }
}
