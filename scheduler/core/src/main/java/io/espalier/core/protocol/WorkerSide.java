package io.espalier.core.protocol;

import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerRef;
import java.util.Collection;

/**
 * The worker's half of the protocol: its lease, what it may start, what it must stop, and which
 * ends are not yet acknowledged.
 *
 * <p><b>Use.</b> One owner calls everything, and {@link #step} after inputs and when its time has
 * come. {@link #work} returns its answer; everything else goes to the {@link WorkerOutput}.
 */
public final class WorkerSide {
  /**
   * @param self shard and random instance of this process
   */
  public WorkerSide(WorkerRef self, WorkerFacts facts, WorkerOutput out) {}

  /**
   * All tasks that earlier processes on this data directory may have left are verified dead: from
   * now on it may register. Not to be called while one of them cannot be verified.
   *
   * @param instances those processes, from the journal
   */
  public void cleared(Collection<Long> instances, Instants now) {}

  /** What this worker says of itself has changed. */
  public void facts(WorkerFacts facts) {}

  /**
   * Whether it could run tasks, as far as it can tell itself.
   *
   * @param note why not; empty when healthy
   */
  public void health(boolean healthy, String note) {}

  /** Take nothing new; {@link WorkerOutput#drained} once there is nothing left. */
  public void drain(Instants now) {}

  public void heartbeatAnswered(HeartbeatAnswer answer, Instants now) {}

  public void heartbeatFailed(long number, Instants now) {}

  public WorkAnswer work(Work work, Instants now) {
    return WorkAnswer.not(work.number(), WorkAnswer.Verdict.STALE, 0);
  }

  /** A task has ended and all its processes are verified dead. Exactly once per start. */
  public void ended(TaskEnd end, Instants now) {}

  /** Newest wins. */
  public void progress(RunId run, Progress progress) {}

  /** Newest wins. */
  public void usage(RunId run, Usage usage) {}

  public void reportAnswered(ReportAnswer answer, Instants now) {}

  public void reportFailed(long number, Instants now) {}

  /**
   * Sends and does what is due.
   *
   * @return in how many milliseconds it is to be called next at the latest
   */
  public long step(Instants now) {
    return 0;
  }

  /** Why it gets no tasks, for the log and the status page; empty: it does. */
  public String state() {
    return "";
  }
}
