package io.espalier.core.config;

import org.jspecify.annotations.Nullable;

/**
 * A limit that differs on some nodes of a level; of several that match a node the last one counts.
 *
 * @param kind how nodes are chosen
 * @param pattern the name, the tag or the regular expression; for {@link Kind#ATTRIBUTE} empty
 * @param resource index of a resource of the level
 * @param limit slots on such a node
 * @param attribute of the node, as its source delivers it, that holds the limit; null: {@code
 *     limit} is it
 */
public record NodeLimit(
    int level, Kind kind, String pattern, int resource, int limit, @Nullable String attribute) {
  /** How nodes are chosen. */
  public enum Kind {
    NAME,
    TAG,
    REGEX,
    /** All nodes that have the attribute. */
    ATTRIBUTE
  }
}
