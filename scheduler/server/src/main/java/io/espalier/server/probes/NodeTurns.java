package io.espalier.server.probes;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * In which order the nodes of a probe are asked, round by round. Nodes that gave no value last time
 * come after all others, because asking them may take long. What a round does not get to comes
 * first in the next one, among its kind. Thread-safe.
 */
final class NodeTurns {
  /** Those asked longest ago first. */
  private final Set<String> well = new LinkedHashSet<>();

  private final Set<String> failing = new LinkedHashSet<>();
  private Deque<String> round = new ArrayDeque<>();

  /** Begins a round with the nodes that there are now. */
  synchronized void begin(Collection<String> nodes) {
    Set<String> there = new HashSet<>(nodes);
    well.retainAll(there);
    failing.retainAll(there);
    nodes.stream().filter(node -> !failing.contains(node)).forEach(well::add);
    List<String> all = new ArrayList<>(well);
    all.addAll(failing);
    round = new ArrayDeque<>(all);
  }

  /** Returns the next node to ask; null: all were. */
  synchronized @Nullable String next() {
    return round.poll();
  }

  /** Must be called for each node that was asked. */
  synchronized void asked(String node, boolean hasValue) {
    well.remove(node);
    failing.remove(node);
    (hasValue ? well : failing).add(node);
  }

  /** Returns how many nodes of the round are still to be asked. */
  synchronized int left() {
    return round.size();
  }
}
