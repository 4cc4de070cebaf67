package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * Worker to scheduler: what tasks said and how they ended. Ends are sent again and again until they
 * are settled; progress and usage only once. Facts: they need no session.
 *
 * @param number grows with every report of this worker process; at most one is under way
 * @param ends of tasks that are verified dead
 * @param storeId as in {@link Heartbeat}
 */
public record Report(
    WorkerRef worker,
    long number,
    List<TaskResult> ends,
    List<ProgressOf> progress,
    List<UsageOf> usage,
    String storeId) {
  public Report {
    ends = List.copyOf(ends);
    progress = List.copyOf(progress);
    usage = List.copyOf(usage);
  }

  /** What a live task said of its progress. */
  public record ProgressOf(RunId run, Progress progress) {}

  /** What a live task has used so far. */
  public record UsageOf(RunId run, ResourceUsage usage) {}
}
