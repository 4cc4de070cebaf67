package io.espalier.core.config;

import java.util.List;

/**
 * A job that waits for the tasks of another one, on whichever nodes they are
 * (docs/design/bistro.md#dependencies).
 *
 * @param job the one that is waited for
 * @param donePercent how many of its tasks must be done, above 0, at most 100; those that its
 *     filters exclude do not count
 * @param tags only tasks on nodes with one of these tags count; empty: all
 */
public record WholeJobDependency(String job, double donePercent, List<String> tags) {
  public WholeJobDependency {
    tags = List.copyOf(tags);
  }

  /** All tasks of a job. */
  public static WholeJobDependency of(String job) {
    return new WholeJobDependency(job, 100, List.of());
  }
}
