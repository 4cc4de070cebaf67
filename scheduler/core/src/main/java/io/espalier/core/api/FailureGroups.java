package io.espalier.core.api;

import java.util.List;

/**
 * The tasks of a job whose latest attempt failed and that have not ended well since, by the
 * fingerprint of that attempt.
 *
 * @param total tasks in all groups, also those that were left out
 * @param groupsTotal groups, also those that were left out
 * @param groups most tasks first
 */
public record FailureGroups(
    String job, long atMillis, long total, long groupsTotal, List<Group> groups) {
  public FailureGroups {
    groups = List.copyOf(groups);
  }

  /**
   * Failures of one cause.
   *
   * @param fingerprint as in the history of attempts
   * @param message of one of them, the newest as far as is known
   * @param count tasks
   * @param failed those of them that have failed for good
   * @param waiting those that will be tried again
   * @param samples some of the tasks' nodes, newest first
   * @param newestMillis when the newest of them failed
   */
  public record Group(
      String fingerprint,
      String message,
      long count,
      long failed,
      long waiting,
      List<String> samples,
      long newestMillis) {
    public Group {
      samples = List.copyOf(samples);
    }
  }
}
