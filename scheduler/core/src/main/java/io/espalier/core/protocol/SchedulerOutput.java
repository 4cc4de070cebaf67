package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import java.util.List;

/**
 * What {@link SchedulerProtocol} wants done. Called while an input is handled, on its thread; must
 * not block nor call back.
 */
public interface SchedulerOutput {
  /**
   * Send this to the worker at that address; then call {@link SchedulerProtocol#answered} or {@link
   * SchedulerProtocol#failed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(String address, WorkBatch work);

  /** An invocation has ended: exactly once for each that was started or resumed. */
  void ended(TaskResult end);

  /**
   * The real end of an invocation that was taken for lost before: for the history only. Its worker
   * keeps it until {@link SchedulerProtocol#recorded} is told of it.
   */
  void late(TaskResult end);

  void progress(RunId run, Progress progress);

  void usage(RunId run, ResourceUsage usage);

  /** The whole pool, after a change that placement must know. */
  void workers(List<WorkerInfo> workers);

  /**
   * A worker has heard of a later leader of this very store: from now on nothing is answered or
   * sent. Either this scheduler is deposed, or its store was set back; only the store can tell.
   */
  void newerEpoch(long heard);

  /** Something an operator should read. */
  void warn(String message);
}
