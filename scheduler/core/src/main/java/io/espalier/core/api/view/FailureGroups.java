package io.espalier.core.api.view;

import java.util.List;

/**
 * The tasks of a job whose latest attempt failed, and that have not succeeded since, grouped by the
 * fingerprint of that attempt.
 *
 * @param total number of tasks in all groups, including omitted ones
 * @param groupsTotal number of groups, including omitted ones
 * @param groups groups with the most tasks first
 */
public record FailureGroups(
    String job, long atMillis, long total, long groupsTotal, List<Group> groups) {
  public FailureGroups {
    groups = List.copyOf(groups);
  }

  /**
   * Failures with the same cause.
   *
   * @param fingerprint as in the history of attempts
   * @param message message of one failure, the newest as far as known
   * @param count number of tasks
   * @param failed number of them that have failed permanently
   * @param waiting number of them that will be tried again
   * @param samples some of the tasks' nodes, newest failure first
   * @param newestMillis time of the newest failure
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
