package io.espalier.core.config;

/**
 * Limits how much a node source may change its nodes from one answer to the next. An answer beyond
 * these limits is quarantined, and the last good one stays in force. Each level is checked
 * separately; the percentages refer to the nodes that the source had there.
 *
 * @param enabled whether answers are quarantined at all
 * @param removedPercent percentage of nodes that may be removed
 * @param addedPercent percentage of nodes that may be added
 * @param reparentedPercent percentage of nodes that may move to another parent
 * @param confirmations number of identical consecutive answers after which a quarantined one is
 *     accepted, unless it is empty; 0: never
 * @param allow change that is accepted whatever its size: {@link #ANY}, or the mark of a
 *     quarantined answer; empty: none
 */
public record NodeChangeGuard(
    boolean enabled,
    double removedPercent,
    double addedPercent,
    double reparentedPercent,
    int confirmations,
    String allow) {
  /** Allows every change. */
  public static final String ANY = "*";

  /** The guard of a configuration that does not specify one. */
  public static final NodeChangeGuard DEFAULT = new NodeChangeGuard(true, 10, 50, 5, 0, "");
}
