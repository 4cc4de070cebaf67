package io.espalier.cli;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.topology.Topology;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeSet;

/**
 * Prints a tree node by node, so that its size does not matter, and stops when the reader closes
 * the pipe.
 */
final class NodeListing {
  private static final int CHECK_EVERY = 4096;

  private final Topology topology;
  private final PrintWriter out;
  private int printed;

  NodeListing(Topology topology, PrintWriter out) {
    this.topology = topology;
    this.out = out;
  }

  /**
   * Prints the tree, indented by level. A node with several parents appears under each, its
   * children under the first.
   */
  void tree() {
    BitSet seen = new BitSet(topology.size());
    int depth = 0;
    int[] next = new int[topology.levels().count() + 1];
    int[] end = new int[next.length];
    line(0, 0, true);
    next[0] = topology.childStart(0);
    end[0] = topology.childEnd(0);
    while (depth >= 0) {
      if (next[depth] == end[depth]) {
        depth--;
        continue;
      }
      int slot = next[depth]++;
      int node = topology.node(slot);
      boolean first = !seen.get(node);
      seen.set(node);
      if (!line(slot, depth + 1, first)) {
        return;
      }
      if (first) {
        depth++;
        next[depth] = topology.childStart(node);
        end[depth] = topology.childEnd(node);
      }
    }
  }

  private boolean line(int slot, int depth, boolean first) {
    int node = topology.node(slot);
    StringBuilder line = new StringBuilder("  ".repeat(depth)).append(topology.name(node));
    StringJoiner marks = new StringJoiner("; ", "  (", ")").setEmptyValue("");
    if (!topology.role(slot).isEmpty()) {
      marks.add(topology.role(slot));
    }
    if (!topology.enabled(slot)) {
      marks.add("disabled");
    }
    if (!topology.tags(slot).isEmpty()) {
      marks.add("tags: " + String.join(", ", topology.tags(slot)));
    }
    if (!topology.attributes(slot).isEmpty()) {
      marks.add(JsonWriter.compact(topology.attributes(slot)));
    }
    if (topology.slotCount(node) > 1) {
      marks.add(first ? "one of " + topology.slotCount(node) + " places" : "replica, see above");
    }
    out.println(line.append(marks));
    return goOn();
  }

  private boolean goOn() {
    return ++printed % CHECK_EVERY != 0 || !out.checkError();
  }

  /** Returns the totals, as in {@code 1 instance, 3 host, 12 db}. */
  String totals() {
    StringJoiner totals = new StringJoiner(", ");
    for (int level = 0; level < topology.levels().worker(); level++) {
      int count = topology.levelEnd(level) - topology.levelStart(level);
      totals.add(count + " " + topology.levels().name(level));
    }
    return totals.toString();
  }

  /**
   * Prints a JSON array of nodes by number, one per line
   * (docs/design/design.md#output-of-commands). A node with several parents is one element: it is
   * enabled if it is enabled under any parent, and has the tags and attributes of all its places.
   * Roles are listed like the parents if there are any.
   */
  void json() {
    out.println("[");
    for (int node = 0; node < topology.size(); node++) {
      out.print(JsonWriter.compact(element(node)));
      out.println(node + 1 < topology.size() ? "," : "");
      if (!goOn()) {
        return;
      }
    }
    out.println("]");
  }

  private Json.Obj element(int node) {
    List<String> parents = new ArrayList<>();
    List<String> roles = new ArrayList<>();
    boolean enabled = false;
    TreeSet<String> tags = new TreeSet<>();
    Map<String, Json> attributes = new LinkedHashMap<>();
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (slot > 0) {
        parents.add(topology.name(topology.parent(slot)));
        roles.add(topology.role(slot));
      }
      enabled |= topology.enabled(slot);
      tags.addAll(topology.tags(slot));
      topology.attributes(slot).members().forEach(attributes::putIfAbsent);
    }
    return Json.object()
        .put("name", topology.name(node))
        .put("level", topology.levels().name(topology.level(node)))
        .put("parents", Json.strings(parents))
        .putIfPresent(
            "roles", roles.stream().allMatch(String::isEmpty) ? null : Json.strings(roles))
        .put("enabled", enabled)
        .put("tags", Json.strings(tags))
        .put("attributes", new Json.Obj(attributes))
        .build();
  }
}
