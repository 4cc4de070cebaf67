package io.espalier.server.app.subtrees;

import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The nodes of subtrees that are to be handed over, by level: all that they have had since they
 * were closed. Not thread-safe.
 */
final class SubtreeNodes {
  /** By name of the top, then by level. */
  private final Map<String, Map<Integer, Set<String>>> all = new HashMap<>();

  /** Remembers the nodes of these subtrees, and forgets those of all others. */
  void retain(Set<String> tops) {
    all.keySet().retainAll(tops);
    tops.forEach(top -> all.computeIfAbsent(top, name -> new HashMap<>()));
  }

  /** Returns whether no subtree is remembered. */
  boolean isEmpty() {
    return all.isEmpty();
  }

  /** Returns the names of the remembered subtrees. */
  Set<String> tops() {
    return Set.copyOf(all.keySet());
  }

  /** Adds what a tree has of the remembered subtrees. */
  void add(Topology nodes) {
    for (int slot = nodes.childStart(0); !all.isEmpty() && slot < nodes.childEnd(0); slot++) {
      int top = nodes.node(slot);
      Map<Integer, Set<String>> levels = all.get(nodes.name(top));
      if (levels != null) {
        addBelow(nodes, top, levels);
      }
    }
  }

  private static void addBelow(Topology nodes, int top, Map<Integer, Set<String>> levels) {
    BitSet seen = new BitSet();
    List<Integer> next = new ArrayList<>(List.of(top));
    while (!next.isEmpty()) {
      int node = next.remove(next.size() - 1);
      if (seen.get(node)) {
        continue;
      }
      seen.set(node);
      levels.computeIfAbsent(nodes.level(node), level -> new HashSet<>()).add(nodes.name(node));
      for (int slot = nodes.childStart(node); slot < nodes.childEnd(node); slot++) {
        next.add(nodes.node(slot));
      }
    }
  }

  /** Returns the remembered subtrees with a node of one of these names. */
  Set<String> with(Set<String> names) {
    Set<String> found = new HashSet<>();
    all.forEach(
        (top, levels) -> {
          if (names.stream()
              .anyMatch(name -> levels.values().stream().anyMatch(some -> some.contains(name)))) {
            found.add(top);
          }
        });
    return found;
  }

  /**
   * Returns the names of the nodes of a remembered subtree, in an order of their own.
   *
   * @param level negative: those of all levels
   */
  List<String> names(String top, int level) {
    Set<String> names = new HashSet<>();
    all.getOrDefault(top, Map.of())
        .forEach(
            (each, some) -> {
              if (level < 0 || each == level) {
                names.addAll(some);
              }
            });
    return List.copyOf(names);
  }
}
