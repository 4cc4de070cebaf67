package io.espalier.server.replay;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The nodes of a tree in a recording: a line for consecutive ones that differ only in name and
 * parent, with the names of the children of one parent after the other. A line for each node takes
 * a scheduler several times as long.
 */
final class NodeLines {
  private static final int MOST_NODES = 4_096;

  private final Topology nodes;
  private final Consumer<Json> out;

  private NodeLines(Topology nodes, Consumer<Json> out) {
    this.nodes = nodes;
    this.out = out;
  }

  /** Writes all nodes, in the order of their slots. */
  static void write(Topology nodes, Consumer<Json> out) {
    NodeLines lines = new NodeLines(nodes, out);
    for (int slot = 0; slot < nodes.slots(); ) {
      slot = lines.write(slot);
    }
  }

  /** Writes a line; returns the slot after it. */
  private int write(int first) {
    int end = first + 1;
    while (end < nodes.slots() && end - first < MOST_NODES && isLike(first, end)) {
      end++;
    }
    int parent = nodes.parent(first);
    List<Json> line = new ArrayList<>();
    line.add(Json.of("nodes"));
    line.add(Json.of(nodes.level(nodes.node(first))));
    line.add(Json.of(parent < 0 ? -1 : nodes.level(parent)));
    line.add(Json.of(nodes.enabled(first)));
    line.add(Json.strings(List.copyOf(new TreeSet<>(nodes.tags(first)))));
    line.add(nodes.attributes(first));
    line.add(Json.of(nodes.role(first)));
    for (int slot = first; slot < end; ) {
      slot = addChildren(slot, end, line);
    }
    out.accept(new Json.Arr(line));
    return end;
  }

  private boolean isLike(int a, int b) {
    int parent = nodes.parent(a);
    return parent >= 0
        && nodes.level(nodes.node(a)) == nodes.level(nodes.node(b))
        && nodes.level(parent) == nodes.level(nodes.parent(b))
        && nodes.enabled(a) == nodes.enabled(b)
        && nodes.tags(a).equals(nodes.tags(b))
        && nodes.attributes(a).equals(nodes.attributes(b))
        && nodes.role(a).equals(nodes.role(b));
  }

  /** Adds a parent and its children; returns the slot after them. */
  private int addChildren(int first, int end, List<Json> line) {
    int parent = nodes.parent(first);
    List<Json> names = new ArrayList<>();
    int slot = first;
    for (; slot < end && nodes.parent(slot) == parent; slot++) {
      names.add(Json.of(nodes.name(nodes.node(slot))));
    }
    line.add(Json.of(parent < 0 ? "" : nodes.name(parent)));
    line.add(new Json.Arr(names));
    return slot;
  }

  /**
   * Reads such a line, or one of a single node as earlier versions wrote it.
   *
   * @throws IllegalArgumentException when it is neither
   */
  static List<NodeSpec> read(List<Json> line) {
    boolean isSingle = !LineEvents.text(line, 0).equals("nodes");
    List<NodeSpec> specs = new ArrayList<>();
    if (isSingle) {
      specs.add(
          new NodeSpec(
              LineEvents.number(line, 1),
              LineEvents.text(line, 2),
              LineEvents.text(line, 4),
              LineEvents.number(line, 3),
              LineEvents.flag(line, 5),
              tags(line, 6),
              attributes(line, 7),
              line.size() > 8 ? LineEvents.text(line, 8) : RoleFilter.NONE));
      return specs;
    }
    int level = LineEvents.number(line, 1);
    int ofParents = LineEvents.number(line, 2);
    boolean enabled = LineEvents.flag(line, 3);
    Set<String> tags = tags(line, 4);
    Json.Obj attributes = attributes(line, 5);
    String role = LineEvents.text(line, 6);
    for (int at = 7; at < line.size(); at += 2) {
      String parent = LineEvents.text(line, at);
      List<Json> names = LineEvents.items(LineEvents.item(line, at + 1));
      for (int i = 0; i < names.size(); i++) {
        String name = LineEvents.text(names, i);
        specs.add(new NodeSpec(level, name, parent, ofParents, enabled, tags, attributes, role));
      }
    }
    return specs;
  }

  private static Set<String> tags(List<Json> line, int at) {
    Set<String> tags = new HashSet<>();
    List<Json> words = LineEvents.items(LineEvents.item(line, at));
    for (int i = 0; i < words.size(); i++) {
      tags.add(LineEvents.text(words, i));
    }
    return tags;
  }

  private static Json.Obj attributes(List<Json> line, int at) {
    return LineEvents.item(line, at) instanceof Json.Obj object ? object : Json.Obj.EMPTY;
  }
}
