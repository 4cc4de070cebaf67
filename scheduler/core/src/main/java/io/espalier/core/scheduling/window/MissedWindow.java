package io.espalier.core.scheduling.window;

/**
 * Windows of nodes that have closed although tasks of a job are left there, none of which started
 * in them.
 *
 * @param level the level of the nodes
 * @param nodes how many these are
 * @param ofNodes of how many nodes of the level windows have closed at that time
 * @param left how many tasks of the job are left below {@code nodes}, without those that run
 */
public record MissedWindow(String job, String level, int nodes, int ofNodes, long left) {
  /** Tells people. */
  public String message() {
    return "windows of "
        + nodes
        + " of "
        + ofNodes
        + " nodes of level "
        + level
        + " have closed, and no task of job "
        + job
        + " has started in them";
  }
}
