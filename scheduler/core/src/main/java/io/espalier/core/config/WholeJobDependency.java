package io.espalier.core.config;

import java.util.List;

/**
 * A dependency of a job on the tasks of another job, on any nodes
 * (docs/design/bistro.md#dependencies).
 *
 * @param job job that must be done first
 * @param donePercent percentage of its tasks that must be done, above 0, at most 100; tasks that
 *     its filters exclude do not count
 * @param tags tags of the nodes whose tasks count; empty: all count
 */
public record WholeJobDependency(String job, double donePercent, List<String> tags) {
  public WholeJobDependency {
    tags = List.copyOf(tags);
  }

  /** Creates a dependency on all tasks of a job. */
  public static WholeJobDependency of(String job) {
    return new WholeJobDependency(job, 100, List.of());
  }
}
