package io.espalier.core.scheduling.gate;

import io.espalier.core.api.view.Explanation.Reason;

/**
 * A reason for which no task of a job starts; running tasks go on. It names the job, which need not
 * be known, so it outlives changes of the configuration.
 *
 * @param job the job that is closed
 * @param author the operator; empty: nobody, or not given
 * @param reason what the author says, or what the scheduler has found, without an end of sentence;
 *     may be empty
 * @param sinceMillis when it was closed, epoch milliseconds; 0: not known
 * @param untilMillis when it is to be opened again, epoch milliseconds; 0: not known
 */
public record Gate(
    GateKind kind, String job, String author, String reason, long sinceMillis, long untilMillis) {

  /** Creates a gate that the scheduler itself has closed. */
  public static Gate of(GateKind kind, String job, String reason) {
    return new Gate(kind, job, "", reason, 0, 0);
  }

  /** Explains the gate to people. */
  public Reason explained() {
    String message =
        switch (kind) {
          case PAUSE -> "the job is paused";
          case LOADING -> "the stored statuses of the job are still being read";
          case DEADLINE -> reason + ": nothing more starts";
          case JOB_FAILED -> "the job has failed: " + reason + "; it can be resumed or forgiven";
          case JOB_SUCCEEDED -> reason + "; a resume lets the rest run";
        };
    return Reason.of(kind.explanation(), null, message).until(untilMillis);
  }
}
