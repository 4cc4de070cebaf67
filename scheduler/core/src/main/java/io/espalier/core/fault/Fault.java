package io.espalier.core.fault;

/**
 * A node below which the failures of a job concentrate.
 *
 * @param level level of the node
 * @param node name of the node
 * @param parent level and name of the node above it; empty: that is the instance
 * @param failed how many tasks below it have failed lately, each counted once until it succeeds
 * @param ended how many tasks below it have ended lately, and how many elsewhere with
 * @param failedElsewhere how many others have failed
 * @param endedElsewhere how many others have ended
 */
public record Fault(
    String level,
    String node,
    String parent,
    int failed,
    int ended,
    int failedElsewhere,
    int endedElsewhere) {

  /** Says it in words, without an end of sentence. */
  public String words(String job) {
    long percent = Math.round(100.0 * failed / (failed + failedElsewhere));
    return percent
        + " % of the failures of "
        + job
        + " are under "
        + level
        + " "
        + node
        + (parent.isEmpty() ? "" : " (" + parent + ")")
        + ": "
        + failed
        + " of "
        + ended
        + " tasks failed there lately, "
        + failedElsewhere
        + " of "
        + endedElsewhere
        + " elsewhere";
  }
}
