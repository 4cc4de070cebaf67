package io.espalier.server.store.mysql;

import io.espalier.core.status.TaskKey;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Selects many tasks in one query, because the number of round trips to the server determines the
 * time. A query is for one job and has the form {@code job = ? AND node IN (?, ?, ...)}.
 */
final class NodeKeyList {
  /** The maximum number of keys in one query. */
  private static final int KEYS = 500;

  private NodeKeyList() {}

  /** Groups the nodes by job, in the order of the keys. */
  static Map<String, List<String>> byJob(Collection<TaskKey> keys) {
    Map<String, List<String>> byJob = new LinkedHashMap<>();
    for (TaskKey key : keys) {
      byJob.computeIfAbsent(key.job(), job -> new ArrayList<>()).add(key.node());
    }
    return byJob;
  }

  /** Splits the nodes into lists that fit into one query each. */
  static List<List<String>> pieces(List<String> all) {
    List<List<String>> pieces = new ArrayList<>();
    for (int from = 0; from < all.size(); from += KEYS) {
      pieces.add(all.subList(from, Math.min(from + KEYS, all.size())));
    }
    return pieces;
  }

  /** Returns a parenthesized list of {@code count} parameters. */
  static String marks(int count) {
    return "(" + "?, ".repeat(count - 1) + "?)";
  }

  /** Sets the job, followed by the nodes. */
  static void set(PreparedStatement statement, int job, List<String> nodes) throws SQLException {
    statement.setInt(1, job);
    int at = 2;
    for (String node : nodes) {
      statement.setBytes(at++, NameKey.of(node).key());
    }
  }
}
