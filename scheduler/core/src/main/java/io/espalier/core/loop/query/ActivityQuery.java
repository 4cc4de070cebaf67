package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.loop.state.ActivityScan;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.concurrent.CompletableFuture;

/** A query about the last hour of a job, or of all jobs: a pass over the live tasks. */
final class ActivityQuery implements IncrementalQuery {
  private final SchedulingCore core;
  private final ActivityScan scan;
  private final String job;
  private final CompletableFuture<JobActivity> answer;

  ActivityQuery(
      SchedulingCore core,
      LiveTasks live,
      Throughput paces,
      String job,
      CompletableFuture<JobActivity> answer) {
    this.core = core;
    scan = new ActivityScan(paces, live, job);
    this.job = job;
    this.answer = answer;
  }

  @Override
  public boolean isAnswered() {
    return answer.isDone();
  }

  @Override
  public long step(long nowMillis, int units) {
    if (!job.isEmpty() && core.job(core.findJob(job)) == null) {
      answer.completeExceptionally(
          new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job));
      return 1;
    }
    long used = 1L + scan.step(nowMillis, units);
    if (scan.isDone()) {
      answer.complete(scan.activity(nowMillis));
    }
    return used;
  }
}
