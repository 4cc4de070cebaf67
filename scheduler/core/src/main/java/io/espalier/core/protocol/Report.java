package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * A worker's report to the scheduler: the progress and ends of its tasks. Ends are sent repeatedly
 * until they are settled, each time with the newest progress of their tasks. The newest progress of
 * other tasks is sent until a report with it is answered; usage is sent only once. Reports need no
 * session, because they state facts.
 *
 * @param number sequence number, growing with every report of this worker process; at most one
 *     report is unanswered at a time
 * @param ends ends of tasks that are verified dead
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

  /** The newest progress of a task that is live, or ends with this report. */
  public record ProgressOf(RunId run, Progress progress) {}

  /** What a live task has used so far. */
  public record UsageOf(RunId run, ResourceUsage usage) {}
}
