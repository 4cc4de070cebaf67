package io.espalier.core.topology;

import io.espalier.core.json.Json;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One node as a source delivers it. The same name twice on one level, under different parents, is a
 * replica: one node with several parents (behaviour 1.2).
 *
 * @param level index of its level, 1 or more
 * @param parent name of the parent; null: the instance
 * @param parentLevel index of the parent's level; 0 when the parent is the instance
 * @param enabled its own flag; ancestors have theirs
 * @param attributes whatever else the source says of it; shown, never interpreted
 */
public record NodeSpec(
    int level,
    String name,
    @Nullable String parent,
    int parentLevel,
    boolean enabled,
    Set<String> tags,
    Json.Obj attributes) {
  public NodeSpec {
    tags = Set.copyOf(tags);
  }

  /** An enabled node without tags one level below {@code parent}. */
  public static NodeSpec child(int level, String name, @Nullable String parent) {
    return new NodeSpec(level, name, parent, level - 1, true, Set.of(), Json.Obj.EMPTY);
  }
}
