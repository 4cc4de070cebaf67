package io.espalier.core.status.store;

/**
 * An operator's override of the number of slots of a resource: on all nodes of a level, or on one
 * node, which takes precedence. It is durable and refers to names: it outlives restarts, reloads
 * and nodes that come and go, and has no effect as long as its level, resource or node does not
 * exist.
 *
 * @param level name of the resource's level; {@code worker} for resources of workers
 * @param node a node of that level, or the shard of a worker; empty: the whole level
 * @param limit number of slots, at least 0
 * @param author the operator; empty when none was given
 * @param reason reason; may be empty
 * @param sinceMillis time of the command, epoch milliseconds
 * @param untilMillis expiry, epoch milliseconds; 0: never
 */
public record LimitOverride(
    String level,
    String resource,
    String node,
    int limit,
    String author,
    String reason,
    long sinceMillis,
    long untilMillis) {

  /**
   * Identifies an override: there is at most one per key.
   *
   * @param node empty: the whole level
   */
  public record Key(String level, String resource, String node) {}

  public LimitOverride {
    if (limit < 0) {
      throw new IllegalArgumentException("a limit is not negative: " + limit);
    }
  }

  public Key key() {
    return new Key(level, resource, node);
  }

  /** Returns true when it applies to a whole level. */
  public boolean isOfLevel() {
    return node.isEmpty();
  }
}
