package io.espalier.core.loop;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.topology.Topology;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Carries out what {@link io.espalier.core.subtree.SubtreeHandover} decides about the tree in
 * force.
 */
final class MovingSubtrees {
  private final SchedulingCore core;

  MovingSubtrees(SchedulingCore core) {
    this.core = core;
  }

  /** Closes these subtrees and opens all others. */
  void close(Map<String, String> reasons, long nowMillis) {
    Map<Scope, String> wanted = new LinkedHashMap<>();
    Topology nodes = core.topology();
    if (!reasons.isEmpty()) {
      for (int slot = nodes.childStart(0); slot < nodes.childEnd(0); slot++) {
        int top = nodes.node(slot);
        String why = reasons.get(nodes.name(top));
        if (why != null) {
          wanted.put(Scope.node(nodes.levels().name(nodes.level(top)), nodes.name(top)), why);
        }
      }
    }
    for (Gate gate : core.gates().of(GateKind.NODE_MOVING)) {
      if (!gate.reason().equals(wanted.get(gate.scope()))) {
        core.gates().open(GateKind.NODE_MOVING, gate.scope());
      } else {
        wanted.remove(gate.scope());
      }
    }
    wanted.forEach(
        (scope, why) ->
            core.gates().close(new Gate(GateKind.NODE_MOVING, scope, "", why, nowMillis, 0)));
  }

  /** Writes the rows of tasks that are not in the tree in force. */
  void put(List<StatusRow> rows, Consumer<StatusRow> changed) {
    for (StatusRow row : rows) {
      int job = core.findJob(row.job());
      if (job < 0 || core.findNode(job, row.node()) < 0) {
        changed.accept(row);
      }
    }
  }
}
