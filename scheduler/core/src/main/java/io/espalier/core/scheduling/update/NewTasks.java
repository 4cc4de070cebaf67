package io.espalier.core.scheduling.update;

import java.util.List;

/**
 * Tasks that a change of the configuration or of the nodes brought, whose stored statuses are to be
 * given to the core before a round may start them.
 *
 * @param jobs names of jobs all of whose tasks are new
 * @param nodes new nodes of the jobs that were there before
 */
public record NewTasks(List<String> jobs, List<NewNodes> nodes) {
  public static final NewTasks NONE = new NewTasks(List.of(), List.of());

  public NewTasks {
    jobs = List.copyOf(jobs);
    nodes = List.copyOf(nodes);
  }

  public boolean isEmpty() {
    return jobs.isEmpty() && nodes.isEmpty();
  }

  /**
   * New nodes of one level.
   *
   * @param level index of the level
   * @param nodes numbers of the nodes, ascending; not to be changed
   * @param jobs names of the jobs with tasks on them
   */
  @SuppressWarnings("ArrayRecordComponent") // as many as there are nodes
  public record NewNodes(int level, int[] nodes, List<String> jobs) {
    public NewNodes {
      jobs = List.copyOf(jobs);
    }
  }
}
