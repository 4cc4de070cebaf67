package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import java.util.List;

/**
 * The actions that {@link SchedulerProtocol} requests. Its methods are called while an input is
 * handled, on that thread; they must neither block nor call back.
 */
public interface SchedulerOutput {
  /**
   * Send a batch to the worker at that address; then call {@link SchedulerProtocol#answered} or
   * {@link SchedulerProtocol#failed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(String address, WorkBatch work);

  /** An invocation has ended; called exactly once for each that was started or resumed. */
  void ended(TaskResult end);

  /**
   * The real end of an invocation that was recorded as lost, for the history only. Its worker
   * retains it until {@link SchedulerProtocol#recorded} is called.
   */
  void late(TaskResult end);

  /** A worker has accepted a run. */
  default void started(RunId run) {}

  /**
   * The workers of these runs have confirmed their recall: each has begun before, or ends as never
   * started.
   */
  default void recalled(List<RunId> runs) {}

  void progress(RunId run, Progress progress);

  void usage(RunId run, ResourceUsage usage);

  /** The whole pool, after a change that matters for placement. */
  void workers(List<WorkerInfo> workers);

  /**
   * A worker has heard of a later leader of this store: from now on nothing is answered or sent.
   * Either this scheduler is deposed, or its store was restored to an older state; only the store
   * can tell which.
   */
  void newerEpoch(long heard);

  /** Warn operators. */
  void warn(String message);
}
