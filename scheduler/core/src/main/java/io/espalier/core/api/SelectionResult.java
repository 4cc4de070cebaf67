package io.espalier.core.api;

import java.util.List;

/**
 * The result of applying a {@link TaskSelection}.
 *
 * @param matched number of tasks that were, or with a preview would be, changed or killed; excludes
 *     {@code running} and tasks that would stay the same
 * @param running number of tasks skipped because they run
 * @param samples names of the first nodes
 * @param changed number of changed tasks: {@code matched} less those that started meanwhile; 0 with
 *     a preview
 */
public record SelectionResult(
    String job, long matched, long running, List<String> samples, boolean preview, long changed) {
  public SelectionResult {
    samples = List.copyOf(samples);
  }
}
