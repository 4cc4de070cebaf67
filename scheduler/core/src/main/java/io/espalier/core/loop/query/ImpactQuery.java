package io.espalier.core.loop.query;

import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.WorkCopy;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.PaceScan;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.ImpactScan;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.update.TaskDifference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A query for what a configuration would do if it came into force now. */
public final class ImpactQuery implements SlicedWork {
  private static final int UNITS = 50_000;

  private final ImpactScan scan;
  private final WorkCopy work;
  private final PaceScan paces;
  private final CompletableFuture<@Nullable Measured> answer;
  private boolean isScanned;
  private boolean isCopied;

  /**
   * What was found.
   *
   * @param work what is left to do
   * @param paces of jobs with ended invocations, by name
   */
  public record Measured(UpdateImpact impact, WorkCopy work, Map<String, JobPace> paces) {}

  /**
   * @param answer completes with null when something else came into force meanwhile
   */
  public ImpactQuery(
      SchedulingCore core,
      TaskDifference difference,
      LiveTasks live,
      Throughput paces,
      CompletableFuture<@Nullable Measured> answer) {
    scan = core.impact(difference);
    work = new WorkCopy(core);
    this.paces = new PaceScan(paces, live);
    this.answer = answer;
  }

  @Override
  public boolean step(long nowMillis) {
    if (scan.isStale()) {
      answer.complete(null);
    } else if (!isScanned) {
      isScanned = scan.step(UNITS);
    } else if (!isCopied) {
      isCopied = work.step(UNITS);
    } else if (!paces.isDone()) {
      paces.step(nowMillis, UNITS);
    } else {
      answer.complete(new Measured(scan.impact(), work, paces.paces()));
    }
    return answer.isDone();
  }
}
