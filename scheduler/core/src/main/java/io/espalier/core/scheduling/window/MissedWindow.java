package io.espalier.core.scheduling.window;

/**
 * That windows of nodes have closed in which no task of a job has started, though some are left.
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
