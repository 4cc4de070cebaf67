package io.espalier.core.scheduling.update;

import java.util.List;

/**
 * The tasks that an update has brought. Their stored statuses must be given to the core before a
 * round may start them.
 *
 * @param jobs the names of jobs all of whose tasks are new
 * @param nodes the new nodes of jobs that existed before
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
   * @param level the index of the level
   * @param nodes the numbers of the nodes, ascending; must not be modified
   * @param jobs the names of the jobs with tasks on them
   */
  @SuppressWarnings("ArrayRecordComponent") // potentially as many as the tree has nodes
  public record NewNodes(int level, int[] nodes, List<String> jobs) {
    public NewNodes {
      jobs = List.copyOf(jobs);
    }
  }
}
