package io.espalier.core.api;

import java.util.List;

/**
 * What became of a {@link TaskSelection}.
 *
 * @param matched tasks that were, or with a preview would be, changed: running ones and those that
 *     a change would leave as they are do not count
 * @param running tasks that were passed over because they run
 * @param samples the names of the first nodes
 * @param changed tasks that were changed: as many as matched, less those that started meanwhile; 0
 *     with a preview
 */
public record SelectionResult(
    String job, long matched, long running, List<String> samples, boolean preview, long changed) {
  public SelectionResult {
    samples = List.copyOf(samples);
  }
}
