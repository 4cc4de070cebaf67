package io.espalier.nodes;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeNames;
import io.espalier.nodes.ParentAlternatives.Alternative;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A node as a row of foreign data describes it, independent of the origin of the row.
 *
 * @param parent null: the row names none
 * @param role role in the place that the row describes
 * @param alternatives places, if the row describes all of them; empty: it describes one
 */
public record NodeRow(
    String name,
    @Nullable String parent,
    Set<String> tags,
    boolean enabled,
    Json.Obj attributes,
    String role,
    List<Alternative> alternatives) {
  /**
   * Checks the keys of an object that describes a node.
   *
   * @param advice what to do about a key that is like none of them, in front of "what is free ..."
   */
  public static void checkKeys(Json.Obj row, List<String> known, UnaryOperator<String> advice)
      throws UnusableNodeException {
    for (String key : row.members().keySet()) {
      if (!known.contains(key) && !key.startsWith("_") && !key.startsWith("//")) {
        String near = Suggestions.closest(key, known, 2);
        throw new UnusableNodeException(
            "has the unknown key \""
                + key
                + "\": "
                + (near == null
                    ? advice.apply(key) + "what is free for you to choose goes into \"attributes\""
                    : "did you mean \"" + near + "\"?"));
      }
    }
  }

  /** Returns a row that consists only of a name. */
  static NodeRow named(String name) throws UnusableNodeException {
    return new NodeRow(name, null, Set.of(), true, Json.Obj.EMPTY, RoleFilter.NONE, List.of())
        .checked();
  }

  NodeRow checked() throws UnusableNodeException {
    String objection = NodeNames.objection(name);
    if (objection != null) {
      throw new UnusableNodeException("is not a node: its name " + objection);
    }
    if (!alternatives.isEmpty() && (parent != null || !role.isEmpty())) {
      throw new UnusableNodeException("has \"alternatives\" and, beside them, a parent or a role");
    }
    return this;
  }
}
