package io.espalier.core.scheduling.gate;

import io.espalier.core.api.view.Explanation.Kind;

/** The kinds of gates. A target has at most one gate of each kind; all must be open. */
public enum GateKind {
  /** An operator has paused or stopped the job. */
  PAUSE(Kind.JOB_PAUSED, false),
  /** The stored statuses of the job are being read. */
  LOADING(Kind.JOB_PAUSED, false),
  /** The job's {@code complete_by} has passed. */
  DEADLINE(Kind.DEADLINE, true),
  /** The job as a whole has failed. */
  JOB_FAILED(Kind.JOB_FAILED, true),
  /** Enough tasks of the job are done. */
  JOB_SUCCEEDED(Kind.JOB_SUCCEEDED, true);

  private final Kind explanation;
  private final boolean endsJob;

  GateKind(Kind explanation, boolean endsJob) {
    this.explanation = explanation;
    this.endsJob = endsJob;
  }

  /** Returns the kind of reason under which explanations list the gate. */
  public Kind explanation() {
    return explanation;
  }

  /**
   * Returns whether the gate ends the job. Otherwise the job goes on later, so that it is never
   * stuck because of the gate.
   */
  public boolean endsJob() {
    return endsJob;
  }
}
