package io.espalier.core.protocol;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Launch;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.Collection;
import java.util.List;

/**
 * The scheduler's half of the protocol: which workers there are, what runs on them, what is to be
 * sent to them, and when an invocation may be taken for dead.
 *
 * <p><b>Use.</b> One owner calls everything. Answers to calls of workers are returned; everything
 * else goes to the {@link SchedulerOutput}. Work is only sent by {@link #step}, so the owner gives
 * all inputs it has and then calls {@code step}: that makes the batches.
 *
 * <p><b>Time.</b> {@code nowMillis} is one clock that never goes back and does not jump: epoch
 * milliseconds at the start of the process plus the monotonic time since.
 *
 * <p><b>Cost.</b> Of an input: what it changes, never the number of workers or tasks.
 */
public final class SchedulerSide {
  /** What came before this scheduler. */
  public enum Past {
    /** The store knows every invocation that may be alive: no wait. */
    KNOWN,
    /**
     * Invocations may be alive of which the store knows nothing: no worker gets tasks until {@link
     * ProtocolTimers#takeoverMillis} have passed, and one with tasks must stop them first.
     */
    UNKNOWN
  }

  /**
   * @param epoch of this leadership
   * @throws IllegalArgumentException when the timers have problems
   */
  public SchedulerSide(long epoch, ProtocolTimers timers, Past past, SchedulerOutput out) {}

  /**
   * Opens: until then every call of a worker is answered {@code NOT_LEADER}. The wait for
   * unconfirmed invocations counts from here, so the epoch must have been raised before.
   *
   * @param unconfirmed recorded as started without an end
   */
  public void resume(List<Assignment> unconfirmed, long nowMillis) {}

  /**
   * Until when leadership is certain; first {@link Long#MAX_VALUE}. After it nothing is answered or
   * sent.
   */
  public void leadershipValidUntil(long untilMillis) {}

  /** The global options of task processes, for health checks. */
  public void healthCheckOptions(SubprocessOptions options) {}

  /** Shards that are to get no new tasks, and those among them to be drained: all of them. */
  public void holds(Collection<String> cordoned, Collection<String> draining, long nowMillis) {}

  public HeartbeatAnswer heartbeat(Heartbeat heartbeat, long nowMillis) {
    return new HeartbeatAnswer(
        heartbeat.number(),
        HeartbeatAnswer.Verdict.NOT_LEADER,
        0,
        0,
        0,
        ProtocolTimers.BALANCED,
        false,
        "");
  }

  public ReportAnswer report(Report report, long nowMillis) {
    return new ReportAnswer(report.number(), false, List.of());
  }

  /** A batch was answered. */
  public void answered(WorkerRef worker, WorkAnswer answer, long nowMillis) {}

  /**
   * A batch was not answered.
   *
   * @param reached false: for certain not a byte of it was sent, such as connection refused
   */
  public void failed(WorkerRef worker, long number, boolean reached, String why, long nowMillis) {}

  /** Starts a task; its row with this worker is durable. */
  public void start(Launch launch, long nowMillis) {}

  /**
   * @return whether this invocation is known and has not ended
   */
  public boolean kill(RunId run, KillRequest how, long nowMillis) {
    return false;
  }

  /**
   * @return whether this invocation is known and has not ended
   */
  public boolean extend(RunId run, long millis, long nowMillis) {
    return false;
  }

  /** The end of this invocation is durable. */
  public void recorded(RunId run, long nowMillis) {}

  /**
   * Does what is due and sends what has collected; to be called after inputs and when its time has
   * come.
   *
   * @return when it is to be called next at the latest; {@link Long#MAX_VALUE}: not before an input
   */
  public long step(long nowMillis) {
    return Long.MAX_VALUE;
  }

  /** The whole pool as of now, for monitors. */
  public List<WorkerInfo> workers() {
    return List.of();
  }

  /** When the wait of {@link Past#UNKNOWN} ends; 0: there is none. */
  public long safeWaitEndsMillis() {
    return 0;
  }

  /** Invocations of an earlier leader that no worker has confirmed yet. */
  public int unconfirmed() {
    return 0;
  }
}
