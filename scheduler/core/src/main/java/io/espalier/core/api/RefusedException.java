package io.espalier.core.api;

/** The scheduler understood what was asked and will not do it; the message says why. */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** Why, for status codes. */
  public enum Reason {
    /** No such job, node, task: 404. */
    UNKNOWN,
    /** It exists, but not in a state that allows this: 409. */
    CONFLICT,
    /** It has another version than the caller expects: 412 to a conditional request, else 409. */
    STALE,
    /** The configuration cannot be written, or another fixed trait forbids it: 405. */
    UNSUPPORTED,
    /** Not now, try again: 503. */
    UNAVAILABLE
  }

  public RefusedException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
