package io.espalier.core.loop.state;

import io.espalier.core.api.RefusedException;
import io.espalier.core.topology.Topology;

/** Finds nodes by level and name. */
public final class NodeResolver {
  private NodeResolver() {}

  /**
   * Returns the number of a node.
   *
   * @param level level name; empty: the highest level that has a node of that name
   * @param name node name; empty: the instance
   * @throws RefusedException when there is no such node
   */
  public static int find(Topology topology, String level, String name) {
    if (name.isEmpty()) {
      return 0;
    }
    int worker = topology.levels().worker();
    if (level.isEmpty()) {
      for (int l = 0; l < worker; l++) {
        int node = topology.find(l, name);
        if (node >= 0) {
          return node;
        }
      }
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no node is called " + name);
    }
    int number = topology.levels().find(level);
    if (number < 0 || number >= worker) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "no level is called "
              + level
              + "; there are "
              + String.join(", ", topology.levels().names().subList(0, worker)));
    }
    int node = topology.find(number, name);
    if (node < 0) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN, "level " + level + " has no node called " + name);
    }
    return node;
  }
}
