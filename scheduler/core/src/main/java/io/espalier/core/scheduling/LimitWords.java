package io.espalier.core.scheduling;

import io.espalier.core.config.Resource;
import io.espalier.core.status.LimitOverride;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Says of a limit that it is not the configured one. */
final class LimitWords {
  private LimitWords() {}

  /** The same for a node of the tree; also says where the configuration gives it its own limit. */
  static String on(World world, int node, Resource resource) {
    LimitOverride override =
        world.overrides.on(
            world.topology.levels().name(resource.level()),
            resource.name(),
            world.topology.name(node));
    int configured = world.nodeLimits().of(node, resource.index());
    if (override != null || !world.nodeLimits().isOwn(node, resource.index())) {
      return of(override, configured);
    }
    return "; the limit of "
        + configured
        + " is configured for this node, that of its level is "
        + resource.limit();
  }

  /**
   * What to add to a sentence about a limit: empty when nobody overrides it.
   *
   * @param configured -1: not said
   */
  static String of(@Nullable LimitOverride override, int configured) {
    if (override == null) {
      return "";
    }
    StringBuilder words = new StringBuilder("; the limit of ").append(override.limit());
    words.append(" is an override");
    if (configured >= 0) {
      words.append(" of the configured ").append(configured);
    }
    words.append(override.isOfLevel() ? " for all of level " + override.level() : "");
    if (!override.author().isEmpty()) {
      words.append(" by ").append(override.author());
    }
    if (override.untilMillis() > 0) {
      words.append(" until ").append(Instant.ofEpochMilli(override.untilMillis()));
    }
    if (!override.reason().isEmpty()) {
      words.append(" (").append(override.reason()).append(')');
    }
    return words.toString();
  }
}
