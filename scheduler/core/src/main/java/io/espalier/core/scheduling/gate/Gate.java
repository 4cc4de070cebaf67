package io.espalier.core.scheduling.gate;

/**
 * A reason for which no task of a job starts, or none on a node and below it, or on a worker;
 * running tasks go on. It names the job, node or worker, which need not be known, so it outlives
 * changes of the configuration, of the nodes and of the pool. Where a node has several parents, a
 * gate closes the paths through its node.
 *
 * @param scope the job, node or worker that is closed
 * @param author the operator; empty: nobody, or not given
 * @param reason what the author says, or what the scheduler has found, without an end of sentence;
 *     may be empty
 * @param sinceMillis when it was closed, epoch milliseconds; 0: not known
 * @param untilMillis when it is to be opened again, epoch milliseconds; 0: not known
 */
public record Gate(
    GateKind kind, Scope scope, String author, String reason, long sinceMillis, long untilMillis) {

  public Gate {
    if (scope.kind() != kind.closes()) {
      throw new IllegalArgumentException("a gate of kind " + kind + " does not close " + scope);
    }
  }

  /** Creates a gate of a job that the scheduler itself has closed. */
  public static Gate of(GateKind kind, String job, String reason) {
    return new Gate(kind, Scope.job(job), "", reason, 0, 0);
  }

  /** Returns the name of the job, node or worker. */
  public String name() {
    return scope.name();
  }
}
