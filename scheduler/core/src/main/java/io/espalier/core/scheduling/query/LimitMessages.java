package io.espalier.core.scheduling.query;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.store.LimitOverride;
import java.time.Instant;

/** Builds messages about limits that differ from the configured ones. */
final class LimitMessages {
  private LimitMessages() {}

  /** Returns how many slots are free: none where more are in use than a lowered limit allows. */
  static String free(int free, int limit) {
    return Math.max(0, free) + " of " + limit + " are free";
  }

  /** Returns the message for a node, which also covers configured limits of single nodes. */
  static String on(SchedulingState state, int node, Resource resource) {
    LimitOverride override =
        state.limitTable.on(
            state.topology.levels().name(resource.level()),
            resource.name(),
            state.topology.name(node));
    int configured = state.nodeLimits().of(node, resource.index());
    String kills = kills(state, node, resource);
    String lowered = lowered(state, node, resource);
    if (override != null || !state.nodeLimits().isOwn(node, resource.index())) {
      return EntryMessages.of(override, configured) + lowered + kills;
    }
    return "; the limit of "
        + configured
        + " is configured for this node, that of its level is "
        + resource.limit()
        + lowered
        + kills;
  }

  /** Returns an addition for a need that exceeds the limit; empty when it does not. */
  static String never(SchedulingState state, int need, int limit, Resource resource) {
    if (need <= limit) {
      return "";
    }
    int largest = state.bounds.largest(resource);
    return "; it can never start while the limit is "
        + limit
        + (need <= largest
            ? ""
            : ", and no node of level "
                + state.topology.levels().name(resource.level())
                + " has more than "
                + largest);
  }

  /** Returns what has lowered the limit of a node most: its health, or a factor; may be empty. */
  static String lowered(SchedulingState state, int node, Resource resource) {
    int base = state.ledger.base(node, resource.index());
    HealthLimit health = state.limitTable.healthOn(resource.name(), state.topology.name(node));
    int others = state.ledger.limitWithoutHealth(node, resource.index());
    if (health != null && health.limit() < others) {
      return EntryMessages.of(health, others, state.clock.wallMillis());
    }
    LimitFactor factor =
        base == state.ledger.limit(node, resource.index())
            ? null
            : state.ledger.factors().smallest(node, resource);
    return factor == null ? "" : EntryMessages.of(factor, base);
  }

  /** Returns when tasks are killed because usage exceeds the limit. */
  private static String kills(SchedulingState state, int node, Resource resource) {
    long delay = state.bounds.killAfterMillis(resource);
    int r = resource.index();
    Long since =
        delay < 0 ? null : state.over.since(r, state.ledger.place(node, resource.level(), r));
    return since == null
        ? ""
        : "; the youngest of those that hold it are killed from "
            + Instant.ofEpochMilli(since + delay)
            + " on, until the limit is kept";
  }
}
