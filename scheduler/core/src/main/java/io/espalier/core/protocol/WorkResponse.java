package io.espalier.core.protocol;

import java.util.List;

/**
 * The response to a batch of work.
 *
 * @param number number of the batch
 * @param epoch the newest epoch known to the worker
 * @param starts if {@link Verdict#DONE}: one answer per start, in the same order
 * @param asked if {@link Verdict#DONE}: one state per ask, in the same order
 */
public record WorkResponse(
    long number, Verdict verdict, long epoch, List<StartAnswer> starts, List<RunState> asked) {
  public WorkResponse {
    starts = List.copyOf(starts);
    asked = List.copyOf(asked);
  }

  static WorkResponse not(long number, Verdict verdict, long epoch) {
    return new WorkResponse(number, verdict, epoch, List.of(), List.of());
  }

  /** What the worker did with the batch as a whole. */
  public enum Verdict {
    /** It handled the batch; the answers in the response are final. */
    DONE,
    /**
     * It ignored this copy, because the same or a newer batch arrived before. The outcome of that
     * one remains open.
     */
    OLD,
    /**
     * It ignored the batch, which is meant for another epoch, session or process. This is not final
     * either: another copy may arrive once the worker knows its session.
     */
    STALE
  }

  /**
   * The result of a start.
   *
   * @param reason why the start was refused; empty when accepted
   * @param retryAfterMillis when refused: how long to send nothing to the worker; 0: not specified
   */
  public record StartAnswer(boolean accepted, String reason, long retryAfterMillis) {
    public static final StartAnswer ACCEPTED = new StartAnswer(true, "", 0);

    public static StartAnswer refused(String reason, long retryAfterMillis) {
      return new StartAnswer(false, reason, retryAfterMillis);
    }
  }

  /** The state of an invocation on a worker. */
  public enum RunState {
    RUNNING,
    /** It has ended here; the end is or will be reported. */
    ENDED,
    /** It does not run, and no start that was sent before this query will ever run it. */
    NOT_RUNNING
  }
}
