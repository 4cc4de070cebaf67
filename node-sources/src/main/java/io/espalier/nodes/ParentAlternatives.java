package io.espalier.nodes;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeNames;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code "alternatives": [{"parent": "hostA", "role": "primary"}, ...]}: the places of one node,
 * each with the node's properties there. Everything but the parent is optional.
 */
public final class ParentAlternatives {
  /** The key in all forms of nodes. */
  public static final String KEY = "alternatives";

  private static final List<String> KEYS = List.of("parent", "role", "enabled", "tags");

  private ParentAlternatives() {}

  /**
   * One place.
   *
   * @param role empty: none
   * @param tags in addition to those of the node
   */
  public record Alternative(String parent, String role, boolean enabled, Set<String> tags) {
    /** Returns the node in this place. */
    NodeSpec of(NodeSpec node) {
      Set<String> all = new LinkedHashSet<>(node.tags());
      all.addAll(tags);
      return new NodeSpec(
          node.level(),
          node.name(),
          parent,
          node.parentLevel(),
          node.enabled() && enabled,
          all,
          node.attributes(),
          role);
    }
  }

  /** Returns the places that a value lists; empty when it lists none. */
  public static List<Alternative> read(@Nullable Json value) throws UnusableNodeException {
    if (value == null || value instanceof Json.Null) {
      return List.of();
    }
    if (!(value instanceof Json.Arr list) || list.items().isEmpty()) {
      throw new UnusableNodeException(
          "has \"alternatives\" that are "
              + (value instanceof Json.Arr ? "empty" : value.kind())
              + ", expected a list of objects with \"parent\" and \"role\"");
    }
    List<Alternative> places = new ArrayList<>();
    Set<String> parents = new HashSet<>();
    for (Json item : list.items()) {
      Alternative place = place(item);
      if (!parents.add(place.parent())) {
        throw new UnusableNodeException("has two alternatives under \"" + place.parent() + "\"");
      }
      places.add(place);
    }
    return places;
  }

  private static Alternative place(Json item) throws UnusableNodeException {
    if (!(item instanceof Json.Obj object)) {
      throw new UnusableNodeException(
          "has an alternative that is " + item.kind() + ", expected an object");
    }
    for (String key : object.members().keySet()) {
      if (!KEYS.contains(key) && !key.startsWith("_") && !key.startsWith("//")) {
        throw new UnusableNodeException(
            "has an alternative with the unknown key \"" + key + "\", known are " + KEYS);
      }
    }
    if (!(object.get("parent") instanceof Json.Str parent)
        || NodeNames.objection(parent.value()) != null) {
      throw new UnusableNodeException("has an alternative without the name of a \"parent\"");
    }
    Json enabled = object.get("enabled");
    if (enabled != null && !(enabled instanceof Json.Bool)) {
      throw new UnusableNodeException(
          "has an alternative with \"enabled\" that is neither true nor false");
    }
    boolean on = !(enabled instanceof Json.Bool bool) || bool.value();
    return new Alternative(parent.value(), role(object.get("role")), on, tags(object.get("tags")));
  }

  /** Delivers a node in each of its places, or, without alternatives, as it is. */
  public static void deliver(NodeSpec node, List<Alternative> places, NodeSink sink) {
    if (places.isEmpty()) {
      sink.add(node);
    }
    places.forEach(place -> sink.add(place.of(node)));
  }

  /** Returns a role; empty when the value has none. */
  public static String role(@Nullable Json value) throws UnusableNodeException {
    if (value == null || value instanceof Json.Null) {
      return RoleFilter.NONE;
    }
    if (!(value instanceof Json.Str role)) {
      throw new UnusableNodeException(
          "has a \"role\" that is " + value.kind() + ", expected a string");
    }
    String objection = role.value().isEmpty() ? null : RoleFilter.objection(role.value());
    if (objection != null) {
      throw new UnusableNodeException("has a role that " + objection);
    }
    return role.value();
  }

  private static Set<String> tags(@Nullable Json value) throws UnusableNodeException {
    if (value == null) {
      return Set.of();
    }
    Set<String> tags = new LinkedHashSet<>();
    if (value instanceof Json.Arr list) {
      for (Json item : list.items()) {
        if (item instanceof Json.Str tag && !tag.value().isEmpty()) {
          tags.add(tag.value());
        }
      }
      if (tags.size() == list.items().size()) {
        return tags;
      }
    }
    throw new UnusableNodeException(
        "has an alternative with \"tags\" that are no list of different strings");
  }
}
