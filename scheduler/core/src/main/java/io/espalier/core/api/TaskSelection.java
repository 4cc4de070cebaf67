package io.espalier.core.api;

/**
 * Tasks of one job that are to be changed.
 *
 * @param preview whether to only report what would change
 * @param expect number of tasks that the caller expects to change: if it differs, none is changed;
 *     -1: any number
 * @param author the operator; empty when none was given
 * @param reason reason; may be empty
 */
public record TaskSelection(
    String job, TaskSelector selector, boolean preview, long expect, String author, String reason) {

  /** Selects all tasks of a job. */
  public static TaskSelection all(String job, String author, String reason) {
    return new TaskSelection(job, TaskSelector.ALL, false, -1, author, reason);
  }
}
