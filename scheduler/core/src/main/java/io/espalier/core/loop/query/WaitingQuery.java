package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.WaitReasonScan;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A query that makes one pass over the tasks of a job and counts why they wait. */
final class WaitingQuery implements IncrementalQuery {
  private static final int GROUPS = 20;

  private final SchedulingCore core;
  private final String job;
  private final CompletableFuture<WaitingReasons> answer;
  private @Nullable WaitReasonScan scan;

  WaitingQuery(SchedulingCore core, String job, CompletableFuture<WaitingReasons> answer) {
    this.core = core;
    this.job = job;
    this.answer = answer;
  }

  @Override
  public boolean isAnswered() {
    return answer.isDone();
  }

  @Override
  public long step(long nowMillis, int units) {
    WaitReasonScan current = scan;
    if (current == null || current.isStale()) {
      int number = core.findJob(job);
      if (core.job(number) == null) {
        answer.completeExceptionally(
            new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job));
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
