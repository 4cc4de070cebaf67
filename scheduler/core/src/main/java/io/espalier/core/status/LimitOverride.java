package io.espalier.core.status;

/**
 * An operator's word on how many slots of a resource there are, in place of what is configured: on
 * all nodes of a level, or on one of them, which counts more. Durable, and about names: it outlives
 * restarts, reloads and nodes that come and go, and means nothing for as long as there is no such
 * level, resource or node.
 *
 * @param level the resource's level by name; {@code worker} for resources of workers
 * @param node a node of that level, or the shard of a worker; empty: all of the level
 * @param limit slots, at least 0
 * @param author who did it; empty when nobody had to say
 * @param reason why; may be empty
 * @param sinceMillis epoch milliseconds
 * @param untilMillis when it ends by itself, epoch milliseconds; 0: never
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
   * What it is about: there is one override of each at most.
   *
   * @param node empty: all of the level
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

  /** Whether it is about a whole level. */
  public boolean isOfLevel() {
    return node.isEmpty();
  }
}
