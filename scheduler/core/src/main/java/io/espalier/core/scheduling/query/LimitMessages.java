package io.espalier.core.scheduling.query;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.LimitOverride;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Says of a limit that it is not the configured one. */
final class LimitMessages {
  private LimitMessages() {}

  /** The same for a node of the tree; also says where the configuration gives it its own limit. */
  static String on(SchedulingState world, int node, Resource resource) {
    LimitOverride override =
        world.overrides.on(
            world.topology.levels().name(resource.level()),
            resource.name(),
            world.topology.name(node));
    int configured = world.nodeLimits().of(node, resource.index());
    String kills = kills(world, node, resource);
    if (override != null || !world.nodeLimits().isOwn(node, resource.index())) {
      return of(override, configured) + kills;
    }
    return "; the limit of "
        + configured
        + " is configured for this node, that of its level is "
        + resource.limit()
        + kills;
  }

  /** What to add where more is needed than the limit; empty where it is not. */
  static String never(SchedulingState world, int need, int limit, Resource resource) {
    if (need <= limit) {
      return "";
    }
    int largest = world.largestLimit(resource);
    return "; it can never start while the limit is "
        + limit
        + (need <= largest
            ? ""
            : ", and no node of level "
                + world.topology.levels().name(resource.level())
                + " has more than "
                + largest);
  }

  /** When tasks are killed because more is in use than the limit. */
  private static String kills(SchedulingState world, int node, Resource resource) {
    long delay = world.killOverLimitMillis(resource);
    int r = resource.index();
    Long since =
        delay < 0 ? null : world.over.since(r, world.ledger.place(node, resource.level(), r));
    return since == null
        ? ""
        : "; the youngest of those that hold it are killed from "
            + Instant.ofEpochMilli(since + delay)
            + " on, until the limit is kept";
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
