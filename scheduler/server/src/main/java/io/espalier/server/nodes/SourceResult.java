package io.espalier.server.nodes;

import io.espalier.core.topology.NodeLookup;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * An answer of a node source, together with the nodes that the source saw.
 *
 * @param inputs the nodes of the levels that it read
 * @param inputLevels these levels
 * @param at when the source last gave this answer
 * @param left what was left out because other schedulers have it; null: nothing
 */
record SourceResult(
    NodeBuffer tape,
    LongHashSet inputs,
    List<Integer> inputLevels,
    Instant at,
    @Nullable ExcludedNodes left) {
  /** Returns the kept part of this answer with the time of the later, identical answer. */
  SourceResult again(SourceResult later) {
    return new SourceResult(tape, later.inputs, later.inputLevels, later.at, left);
  }

  /** Returns the same answer with fewer nodes kept. */
  SourceResult with(NodeBuffer shorter, ExcludedNodes leftOut) {
    return new SourceResult(shorter, inputs, inputLevels, at, leftOut);
  }

  boolean sameNodes(SourceResult other) {
    return tape.count() == other.tape.count() && tape.mark().equals(other.tape.mark());
  }

  /** Returns true when the source would see other nodes now. */
  boolean sawOthers(NodeLookup now) {
    return !inputLevels.isEmpty() && !inputs.same(hashes(now, inputLevels));
  }

  private static LongHashSet hashes(NodeLookup nodes, Iterable<Integer> levels) {
    LongHashSet hashes = new LongHashSet();
    for (int level : levels) {
      for (String name : nodes.names(level)) {
        hashes.add(LongHashSet.of(level, name));
      }
    }
    return hashes;
  }

  /** Records the levels that a source reads. */
  static final class Inputs implements NodeLookup {
    private final NodeLookup nodes;
    private final TreeSet<Integer> levels = new TreeSet<>();

    Inputs(NodeLookup nodes) {
      this.nodes = nodes;
    }

    @Override
    public List<String> names(int level) {
      levels.add(level);
      return nodes.names(level);
    }

    /** Creates the answer. Must be called before its nodes are added to the tree. */
    SourceResult answer(NodeBuffer tape, Instant at) {
      return new SourceResult(tape, hashes(nodes, levels).packed(), List.copyOf(levels), at, null);
    }
  }
}
