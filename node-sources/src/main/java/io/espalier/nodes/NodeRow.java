package io.espalier.nodes;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeNames;
import io.espalier.nodes.ParentAlternatives.Alternative;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A node as a row of foreign data describes it, independent of the origin of the row.
 *
 * @param parent null: the row names none
 * @param role role in the place that the row describes
 * @param alternatives places, if the row describes all of them; empty: it describes one
 */
record NodeRow(
    String name,
    @Nullable String parent,
    Set<String> tags,
    boolean enabled,
    Json.Obj attributes,
    String role,
    List<Alternative> alternatives) {
  /** The row does not describe a node; the message continues "row 7 …". */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;

    Unusable(String message) {
      super(message, null, false, false);
    }
  }

  /** Returns a row that consists only of a name. */
  static NodeRow named(String name) throws Unusable {
    return new NodeRow(name, null, Set.of(), true, Json.Obj.EMPTY, RoleFilter.NONE, List.of())
        .checked();
  }

  NodeRow checked() throws Unusable {
    String objection = NodeNames.objection(name);
    if (objection != null) {
      throw new Unusable("is not a node: its name " + objection);
    }
    if (!alternatives.isEmpty() && (parent != null || !role.isEmpty())) {
      throw new Unusable("has \"alternatives\" and, beside them, a parent or a role");
    }
    return this;
  }
}
