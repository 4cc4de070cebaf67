package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.concurrent.CompletableFuture;

/** A query about the last hour of a job, or of all jobs: one pass over the live tasks. */
final class ActivityQuery implements IncrementalQuery {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput paces;
  private final String job;
  private final CompletableFuture<JobActivity> answer;

  ActivityQuery(
      SchedulingCore core,
      LiveTasks live,
      Throughput paces,
      String job,
      CompletableFuture<JobActivity> answer) {
    this.core = core;
    this.live = live;
    this.paces = paces;
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
    answer.complete(paces.activity(job, live, nowMillis));
    return live.size() + 1L;
  }
}
