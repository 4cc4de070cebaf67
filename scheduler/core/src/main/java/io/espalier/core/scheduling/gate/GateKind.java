package io.espalier.core.scheduling.gate;

import io.espalier.core.api.view.Explanation.Kind;

/** The kinds of gates. A target has at most one gate of each kind; all must be open. */
public enum GateKind {
  /** An operator has paused or stopped the job. */
  PAUSE(Scope.Kind.JOB, Kind.JOB_PAUSED, false),
  /** The stored statuses of the job are being read. */
  LOADING(Scope.Kind.JOB, Kind.JOB_PAUSED, false),
  /** As many jobs as {@code capacity} lets run at once were there before. */
  CAPACITY(Scope.Kind.JOB, Kind.CAPACITY, false),
  /** The job's {@code complete_by} has passed. */
  DEADLINE(Scope.Kind.JOB, Kind.DEADLINE, true),
  /** The job as a whole has failed. */
  JOB_FAILED(Scope.Kind.JOB, Kind.JOB_FAILED, true),
  /** Enough tasks of the job are done. */
  JOB_SUCCEEDED(Scope.Kind.JOB, Kind.JOB_SUCCEEDED, true),
  /** An operator has closed the node. */
  NODE_CLOSED(Scope.Kind.NODE, Kind.NODE_DISABLED, false),
  /** An operator brakes the job, its queue or its set to a standstill. */
  JOB_BRAKE(Scope.Kind.JOB, Kind.BRAKE, false),
  /** An operator brakes the node and everything below it to a standstill. */
  NODE_BRAKE(Scope.Kind.NODE, Kind.BRAKE, false),
  /** The stages of the job's roll-out are being determined. */
  ROLLOUT(Scope.Kind.JOB, Kind.ROLLOUT, false),
  /** A check of the roll-out has failed, or an operator has halted it. */
  HALTED(Scope.Kind.JOB, Kind.ROLLOUT, false),
  /** No window of the job, its queue or the settings is open. */
  JOB_WINDOW(Scope.Kind.JOB, Kind.WINDOW, false),
  /** No window of the node is open. */
  NODE_WINDOW(Scope.Kind.NODE, Kind.WINDOW, false),
  /** Tasks of the job would not end before the window of the node closes. */
  WINDOW_CUTOFF(Scope.Kind.JOB_ON_NODE, Kind.WINDOW, false),
  /** The tags of the node give its subtree to another scheduler. */
  NODE_MOVING(Scope.Kind.NODE, Kind.OTHER_SHARD, false),
  /** Tasks of several jobs fail on the node, or an operator has quarantined it. */
  NODE_QUARANTINE(Scope.Kind.NODE, Kind.QUARANTINE, false),
  /** Tasks of the job fail on the node, or an operator has quarantined it for the job. */
  JOB_QUARANTINE(Scope.Kind.JOB_ON_NODE, Kind.QUARANTINE, false),
  /** As many starts of the job are in flight as its {@code max_starting} lets. */
  JOB_STARTING(Scope.Kind.JOB, Kind.STARTING, false),
  /** As many starts on the worker are in flight as {@code max_starting_per_worker} lets. */
  WORKER_STARTING(Scope.Kind.WORKER, Kind.STARTING, false);

  private final Scope.Kind closes;
  private final Kind explanation;
  private final boolean endsJob;

  GateKind(Scope.Kind closes, Kind explanation, boolean endsJob) {
    this.closes = closes;
    this.explanation = explanation;
    this.endsJob = endsJob;
  }

  /** Returns what gates of this kind close. */
  public Scope.Kind closes() {
    return closes;
  }

  /** Returns the kind of reason under which explanations list the gate. */
  public Kind explanation() {
    return explanation;
  }

  /**
   * Returns whether the gate is a lack of room: while it is closed jobs remain active, and their
   * tasks go on waiting, as they do for slots.
   */
  public boolean isLackOfRoom() {
    return explanation == Kind.STARTING;
  }

  /**
   * Returns whether the gate ends the job. Otherwise the job goes on later, so that it is never
   * stuck because of the gate.
   */
  public boolean endsJob() {
    return endsJob;
  }
}
