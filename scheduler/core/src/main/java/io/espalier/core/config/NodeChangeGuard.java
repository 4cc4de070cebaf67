package io.espalier.core.config;

/**
 * How much a node source may change its nodes from one answer to the next before the new answer is
 * held and the last good one stays in force. Judged for each level of its own; the percentages are
 * of the nodes that the source had there.
 *
 * @param enabled whether anything is held at all
 * @param removedPercent of nodes that may be gone
 * @param addedPercent of nodes that may be new
 * @param reparentedPercent of nodes that may lie under another parent
 * @param confirmations after so many identical answers in a row a held one is accepted, unless it
 *     is empty; 0: never
 * @param allow a change that is accepted whatever its size: {@link #ANY}, or the mark under which a
 *     held answer is shown; empty: none
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

  /** What a configuration that says nothing means (features, idea 10). */
  public static final NodeChangeGuard DEFAULT = new NodeChangeGuard(true, 10, 50, 5, 0, "");
}
