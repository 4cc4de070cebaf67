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
 * Names many tasks in one question: what counts is how often the server is asked. A question is for
 * one job and reads {@code job = ? AND node IN (?, ?, ...)}.
 */
final class NodeKeyList {
  /** How many keys one question names. */
  private static final int KEYS = 500;

  private NodeKeyList() {}

  /** The nodes of each job, in the order of the keys. */
  static Map<String, List<String>> byJob(Collection<TaskKey> keys) {
    Map<String, List<String>> byJob = new LinkedHashMap<>();
    for (TaskKey key : keys) {
      byJob.computeIfAbsent(key.job(), job -> new ArrayList<>()).add(key.node());
    }
    return byJob;
  }

  /** As many as one question names, and the rest in further ones. */
  static List<List<String>> pieces(List<String> all) {
    List<List<String>> pieces = new ArrayList<>();
    for (int from = 0; from < all.size(); from += KEYS) {
      pieces.add(all.subList(from, Math.min(from + KEYS, all.size())));
    }
    return pieces;
  }

  /** The list of that many parameters, in brackets. */
  static String marks(int count) {
    return "(" + "?, ".repeat(count - 1) + "?)";
  }

  /** Sets the job, and the nodes behind it. */
  static void set(PreparedStatement statement, int job, List<String> nodes) throws SQLException {
    statement.setInt(1, job);
    int at = 2;
    for (String node : nodes) {
      statement.setBytes(at++, NameKey.of(node).key());
    }
  }
}
