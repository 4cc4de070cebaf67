package io.espalier.nodes;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns rows into nodes below one level; after the first problem it only collects problems. Not
 * thread-safe; for one fetch.
 */
public final class RowToNodes {
  /** The maximum number of nodes of one fetch. */
  public static final long MAX_NODES = 10_000_000;

  private static final int MAX_PROBLEMS = 20;
  private static final int CHECK_EVERY = 4096;

  private final NodeSink sink;
  private final int parentLevel;
  private final ColumnMapping columns;
  private final String path;
  private final String perParent;
  private final List<Problem> problems = new ArrayList<>();

  /** What is wrong with rows, and which row shows it: the same of many rows is one problem. */
  private final Map<String, Rows> unusable = new LinkedHashMap<>();

  /** The rows so far, if equal ones count once. */
  private final Set<Map.Entry<NodeSpec, Object>> seen = new HashSet<>();

  private long nodes;

  /** The number of rows without a parent, which together are one problem. */
  private long withoutParent;

  private String firstWithoutParent = "";

  /**
   * @param perParent how to ask this source for the rows of one parent, for people; empty: it is
   *     asked with the names of parents already, or its nodes lie under the instance
   */
  public RowToNodes(
      NodeSink sink, int parentLevel, ColumnMapping columns, String path, String perParent) {
    this.sink = sink;
    this.parentLevel = parentLevel;
    this.columns = columns;
    this.path = path;
    this.perParent = perParent;
  }

  /**
   * Processes a row.
   *
   * @param where description of the row for people, such as "line 7 of hosts.csv"
   * @param parent parent of all rows of this answer; null: the row names it
   */
  public void row(Json value, String where, @Nullable String parent)
      throws NodeSourceException, InterruptedException {
    if (++nodes % CHECK_EVERY == 0 && Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (nodes > MAX_NODES) {
      problem("there are more than %,d rows".formatted(MAX_NODES));
      finish();
    }
    try {
      NodeRow row = columns.node(value);
      if (!row.alternatives().isEmpty() && parentLevel == 0) {
        throw new UnusableNodeException(
            "has alternatives, but nodes of this source lie under the instance");
      }
      String under = row.alternatives().isEmpty() ? parentOf(row, parent) : null;
      if (under == null && row.alternatives().isEmpty() && parentLevel != 0) {
        firstWithoutParent = withoutParent == 0 ? where : firstWithoutParent;
        withoutParent++;
      }
      if (problems.isEmpty() && unusable.isEmpty() && withoutParent == 0) {
        NodeSpec node =
            new NodeSpec(
                parentLevel + 1,
                row.name(),
                under,
                parentLevel,
                row.enabled(),
                row.tags(),
                row.attributes(),
                row.role());
        if (!columns.distinct() || seen.add(Map.entry(node, row.alternatives()))) {
          ParentAlternatives.deliver(node, row.alternatives(), sink);
        }
      }
    } catch (UnusableNodeException e) {
      unusable(where, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reports a row that cannot be used.
   *
   * @param where description of the row, as for {@link #row}
   * @param what what is wrong with it, such as "has no name"
   */
  void unusable(String where, String what) throws NodeSourceException {
    unusable.computeIfAbsent(what, w -> new Rows(where)).count++;
    if (problems.size() + unusable.size() >= MAX_PROBLEMS) {
      finish();
    }
  }

  /**
   * Processes a row with a value of a node that was asked about, which the row need not name: an
   * object, or the value itself.
   */
  public void valueOf(String node, Json value, String where)
      throws NodeSourceException, InterruptedException {
    row(columns.about(node, value), where, null);
  }

  private @Nullable String parentOf(NodeRow row, @Nullable String parent)
      throws UnusableNodeException {
    String own = row.parent();
    if (parent != null) {
      if (own != null && !own.equals(parent)) {
        throw new UnusableNodeException(
            "names another parent than \"" + parent + "\", which was asked for");
      }
      return parentLevel == 0 ? null : parent;
    }
    if (parentLevel == 0) {
      if (own != null) {
        throw new UnusableNodeException(
            "names a parent, but nodes of this source lie under the instance");
      }
      return null;
    }
    return own;
  }

  void problem(String message) {
    problems.add(Problem.error(path, message));
  }

  /** Throws if there were problems. */
  public void finish() throws NodeSourceException {
    unusable.forEach((what, rows) -> problems.add(Problem.error(path, rows.named(what))));
    unusable.clear();
    if (withoutParent > 0) {
      problems.add(parentMissing());
    }
    if (!problems.isEmpty()) {
      throw new NodeSourceException(problems);
    }
  }

  private Problem parentMissing() {
    String message = firstWithoutParent + " names no parent";
    if (withoutParent > 1) {
      message += ", nor do " + (withoutParent - 1) + " more rows";
    }
    String hint = "give each row its \"%s\"".formatted(columns.parentColumn());
    return Problem.error(path, message)
        .withHint(perParent.isEmpty() ? hint : hint + ", or " + perParent);
  }

  /** Rows that cannot be used for the same reason. */
  private static final class Rows {
    private final String first;
    private long count;

    Rows(String first) {
      this.first = first;
    }

    String named(String what) {
      String more = count == 2 ? " (and 1 more row)" : " (and " + (count - 1) + " more rows)";
      return first + " " + what + (count == 1 ? "" : more);
    }
  }
}
