package io.espalier.server.ha;

/**
 * The znodes below the path of an election group.
 *
 * <pre>
 *   leader/    one ephemeral znode for each candidate, the first of which leads (LeaderLatch)
 *   proof      written by the leader about once a second
 *   opened     written by a leader that begins to answer
 *   store      names the status store that all candidates share
 *   epoch      the highest epoch that a leader has used
 *   event      the newest event that the store is known to contain
 * </pre>
 */
final class ZooKeeperPaths {
  private ZooKeeperPaths() {}

  static String leader(String base) {
    return base + "/leader";
  }

  static String proof(String base) {
    return base + "/proof";
  }

  static String opened(String base) {
    return base + "/opened";
  }

  static String store(String base) {
    return base + "/store";
  }

  static String epoch(String base) {
    return base + "/epoch";
  }

  static String event(String base) {
    return base + "/event";
  }
}
