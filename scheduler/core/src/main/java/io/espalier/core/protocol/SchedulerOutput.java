package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerInfo;
import java.util.List;

/**
 * What {@link SchedulerSide} wants done. Called while an input is handled, on its thread; must not
 * block nor call back.
 */
public interface SchedulerOutput {
  /**
   * Send this to the worker at that address; then call {@link SchedulerSide#answered} or {@link
   * SchedulerSide#failed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(String address, Work work);

  /** An invocation has ended: exactly once for each that was started or resumed. */
  void ended(TaskEnd end);

  /**
   * The real end of an invocation that was taken for lost before: for the history only. Its worker
   * keeps it until {@link SchedulerSide#recorded} is told of it.
   */
  void late(TaskEnd end);

  void progress(RunId run, Progress progress);

  void usage(RunId run, Usage usage);

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
