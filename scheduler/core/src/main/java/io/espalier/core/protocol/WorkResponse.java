package io.espalier.core.protocol;

import java.util.List;

/**
 * The answer to a batch of work.
 *
 * @param number of the batch
 * @param epoch the newest that the worker knows
 * @param starts if {@link Verdict#DONE}: one per start, in their order
 * @param asked if {@link Verdict#DONE}: one per ask, in their order
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
    /** Handled; the answers in it are final. */
    DONE,
    /**
     * This copy was not acted on: the same or a newer batch came before it. Says nothing of that.
     */
    OLD,
    /**
     * Not acted on: another epoch, session or process is meant. Not final either: a copy may come
     * once the worker has learned of its session.
     */
    STALE
  }

  /**
   * What became of a start.
   *
   * @param reason empty when accepted
   * @param retryAfterMillis when refused: how long to leave the worker alone; 0: it does not say
   */
  public record StartAnswer(boolean accepted, String reason, long retryAfterMillis) {
    public static final StartAnswer ACCEPTED = new StartAnswer(true, "", 0);

    public static StartAnswer refused(String reason, long retryAfterMillis) {
      return new StartAnswer(false, reason, retryAfterMillis);
    }
  }

  /** What a worker knows of an invocation. */
  public enum RunState {
    RUNNING,
    /** It has ended here; the end is or will be reported. */
    ENDED,
    /** It does not run, and no start that was sent before this question ever will. */
    NOT_RUNNING
  }
}
