package io.espalier.testkit.oracle;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Nodes that are closed, for all jobs or for one. */
public final class OracleNodeGates {
  private final Set<Closed> closed = new HashSet<>();

  private record Closed(GateKind kind, Scope scope) {}

  /** Closes or opens a node, known or not, or a job on a node. */
  public void set(GateKind kind, Scope scope, boolean on) {
    Closed gate = new Closed(kind, scope);
    if (on) {
      closed.add(gate);
    } else {
      closed.remove(gate);
    }
  }

  boolean isClosed(Place node, Job job) {
    return !failures(node, job).isEmpty();
  }

  List<Failure> failures(Place node, Job job) {
    return Arrays.stream(GateKind.values())
        .filter(
            kind ->
                closed.contains(new Closed(kind, Scope.node(node.level(), node.node())))
                    || closed.contains(
                        new Closed(kind, Scope.jobOnNode(job.name(), node.level(), node.node()))))
        .map(kind -> new Failure(kind.explanation(), node.node(), ""))
        .toList();
  }
}
