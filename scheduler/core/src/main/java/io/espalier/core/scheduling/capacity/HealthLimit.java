package io.espalier.core.scheduling.capacity;

/**
 * What the health of a node leaves of a limit: the smaller of this and of all else counts.
 *
 * <p>For a kind of redundancy groups it is 0 on a member that is not well, and the groups of such a
 * member are closed.
 *
 * @param level the name of the level
 * @param resource the name of the resource, or {@code GroupRule.limitName} of a kind of groups
 * @param node the name of the node; empty: all nodes of the level that have none of their own
 * @param limit slots; {@link #WHOLE}: health takes nothing away
 * @param reason what is told about it, such as {@code probe lag is 7.2 (bad above 5)}
 * @param valueMillis when a value was sampled that is too old now, epoch milliseconds; its age is
 *     told then. 0: the value is not too old
 */
public record HealthLimit(
    String level, String resource, String node, int limit, String reason, long valueMillis) {
  /** The limit of a node from whose limit health takes nothing away. */
  public static final int WHOLE = Integer.MAX_VALUE;

  public HealthLimit {
    if (limit < 0) {
      throw new IllegalArgumentException("a limit of " + limit);
    }
  }

  /** Returns the reason in words, with the age of a value that is too old. */
  public String reasonAt(long nowMillis) {
    return valueMillis == 0
        ? reason
        : reason + " is " + Math.max(0, nowMillis - valueMillis) / 1000 + " s old";
  }
}
