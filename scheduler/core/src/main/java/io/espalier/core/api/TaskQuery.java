package io.espalier.core.api;

/**
 * A query for tasks of a job.
 *
 * @param status status label; empty: all
 * @param nodePrefix prefix of the node's name; empty: all
 * @param after cursor of the previous page; empty: the first page
 * @param limit maximum number of tasks, 1 to 1000
 * @param fingerprint fingerprint of the latest, failed attempt; empty: all
 */
public record TaskQuery(
    String job, String status, String nodePrefix, String after, int limit, String fingerprint) {

  /** Creates a query regardless of failures. */
  public TaskQuery(String job, String status, String nodePrefix, String after, int limit) {
    this(job, status, nodePrefix, after, limit, "");
  }
}
