package io.espalier.webui.fleet.poll;

import io.espalier.core.problem.Causes;

/** Thrown when a scheduler did not answer as expected. */
public final class SchedulerUnreachableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FleetSchedulerState state;
  private final boolean sent;

  /**
   * @param sent whether the request may have arrived
   * @param detail for people, the same for all schedulers that fail in the same way
   */
  public SchedulerUnreachableException(FleetSchedulerState state, boolean sent, String detail) {
    super(detail, null, false, false);
    this.state = state;
    this.sent = sent;
  }

  public FleetSchedulerState state() {
    return state;
  }

  public boolean sent() {
    return sent;
  }

  public String detail() {
    return String.valueOf(getMessage());
  }

  /** Translates the failure of a stage. */
  public static SchedulerUnreachableException of(Throwable failure) {
    Throwable cause = Causes.of(failure);
    return cause instanceof SchedulerUnreachableException known
        ? known
        : new SchedulerUnreachableException(
            FleetSchedulerState.ERROR, true, "internal error: " + cause);
  }
}
