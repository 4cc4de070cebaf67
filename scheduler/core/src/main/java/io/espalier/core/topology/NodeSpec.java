package io.espalier.core.topology;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One node as a source delivers it. A name that occurs twice on one level, under different parents,
 * is a replica: one node with several parents (docs/design/bistro.md#levels-and-nodes).
 *
 * @param level index of its level, 1 or more
 * @param parent name of the parent; null: the instance
 * @param parentLevel index of the parent's level; 0 when the parent is the instance
 * @param enabled its own flag, independent of those of its ancestors
 * @param role role of the node under this parent, such as {@code replica}; empty: none
 * @param attributes other data from the source; shown, never interpreted
 */
public record NodeSpec(
    int level,
    String name,
    @Nullable String parent,
    int parentLevel,
    boolean enabled,
    Set<String> tags,
    Json.Obj attributes,
    String role) {
  public NodeSpec {
    tags = Set.copyOf(tags);
  }

  /** A node without a role. */
  public NodeSpec(
      int level,
      String name,
      @Nullable String parent,
      int parentLevel,
      boolean enabled,
      Set<String> tags,
      Json.Obj attributes) {
    this(level, name, parent, parentLevel, enabled, tags, attributes, RoleFilter.NONE);
  }

  /** The same node with a role under its parent. */
  public NodeSpec withRole(String newRole) {
    return new NodeSpec(level, name, parent, parentLevel, enabled, tags, attributes, newRole);
  }

  /** An enabled node without tags one level below {@code parent}. */
  public static NodeSpec child(int level, String name, @Nullable String parent) {
    return new NodeSpec(level, name, parent, level - 1, true, Set.of(), Json.Obj.EMPTY);
  }
}
