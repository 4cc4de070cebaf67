package io.espalier.core.api;

import io.espalier.core.problem.Problem;
import java.util.List;

/** Thrown when the scheduler understands a request but refuses it; the message explains why. */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;
  private final String code;
  private final transient List<Problem> problems;

  /** The kind of refusal, for status codes. */
  public enum Reason {
    /** The job, node or task does not exist: 404. */
    UNKNOWN,
    /** It exists, but not in a state that allows this: 409. */
    CONFLICT,
    /** What is to be saved has errors, which {@link #problems} lists: 422. */
    INVALID,
    /**
     * Its version differs from what the caller expects: 412 for a conditional request, otherwise
     * 409.
     */
    STALE,
    /** The configuration cannot be written, or another fixed property forbids it: 405. */
    UNSUPPORTED,
    /** The scheduler takes no more, try again later: 429. */
    FULL,
    /** Temporarily impossible, try again: 503. */
    UNAVAILABLE
  }

  public RefusedException(Reason reason, String message) {
    this(reason, "", message);
  }

  /**
   * @param code tells programs apart what refusals of the same kind are about; empty: nothing more
   */
  public RefusedException(Reason reason, String code, String message) {
    this(reason, code, message, List.of());
  }

  private RefusedException(Reason reason, String code, String message, List<Problem> problems) {
    super(message);
    this.reason = reason;
    this.code = code;
    this.problems = List.copyOf(problems);
  }

  /**
   * Creates the refusal to save what has errors.
   *
   * @param errors all of them
   */
  public static RefusedException invalid(String message, List<Problem> errors) {
    return new RefusedException(Reason.INVALID, "", message, errors);
  }

  /** Returns the code, such as {@code plan_expired}; empty: none. */
  public String code() {
    return code;
  }

  /** Returns the errors of what is invalid. */
  public List<Problem> problems() {
    return problems;
  }

  public Reason reason() {
    return reason;
  }
}
