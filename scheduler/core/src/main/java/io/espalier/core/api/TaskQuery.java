package io.espalier.core.api;

/**
 * Which tasks of a job.
 *
 * @param status label, or empty for all
 * @param nodePrefix or empty for all
 * @param after cursor of the previous page, or empty
 * @param limit at most this many, 1 to 1000
 * @param fingerprint of the latest attempt, which failed; empty: all
 */
public record TaskQuery(
    String job, String status, String nodePrefix, String after, int limit, String fingerprint) {

  /** Failed for whatever cause, or not. */
  public TaskQuery(String job, String status, String nodePrefix, String after, int limit) {
    this(job, status, nodePrefix, after, limit, "");
  }
}
