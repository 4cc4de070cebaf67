package io.espalier.core.api;

import io.espalier.core.status.StatusLabel;
import java.util.Set;

/**
 * Which tasks of a job: those for which all that is said holds.
 *
 * @param statuses empty: any
 * @param prefix of the node's name; empty: any
 * @param nodes by name; empty: any
 * @param fingerprint of the latest attempt, which failed; empty: any
 */
public record TaskSelector(
    Set<StatusLabel> statuses, String prefix, Set<String> nodes, String fingerprint) {
  /** Every task. */
  public static final TaskSelector ALL = new TaskSelector(Set.of(), "", Set.of(), "");

  public TaskSelector {
    statuses = Set.copyOf(statuses);
    nodes = Set.copyOf(nodes);
  }
}
