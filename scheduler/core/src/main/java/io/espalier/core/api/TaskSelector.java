package io.espalier.core.api;

import io.espalier.core.status.StatusLabel;
import java.util.Set;

/**
 * Selects tasks of a job that match all given conditions.
 *
 * @param statuses status labels; empty: any
 * @param prefix prefix of the node's name; empty: any
 * @param nodes names of nodes; empty: any
 * @param fingerprint fingerprint of the latest, failed attempt; empty: any
 */
public record TaskSelector(
    Set<StatusLabel> statuses, String prefix, Set<String> nodes, String fingerprint) {
  /** Selects every task. */
  public static final TaskSelector ALL = new TaskSelector(Set.of(), "", Set.of(), "");

  public TaskSelector {
    statuses = Set.copyOf(statuses);
    nodes = Set.copyOf(nodes);
  }
}
