package io.espalier.server.nodes;

import io.espalier.core.topology.NodeLookup;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a node source delivered, and what it had been shown.
 *
 * @param inputs the nodes of the levels that it looked at
 * @param inputLevels these levels
 * @param at when it was last given
 * @param left what was left out of it because other schedulers have it; null: nothing
 */
record SourceResult(
    NodeBuffer tape,
    LongHashSet inputs,
    List<Integer> inputLevels,
    Instant at,
    @Nullable ExcludedNodes left) {
  /** Of the same answer, given again later, what was kept of this one. */
  SourceResult again(SourceResult later) {
    return new SourceResult(tape, later.inputs, later.inputLevels, later.at, left);
  }

  /** The same answer, of which less is kept. */
  SourceResult with(NodeBuffer shorter, ExcludedNodes leftOut) {
    return new SourceResult(shorter, inputs, inputLevels, at, leftOut);
  }

  boolean sameNodes(SourceResult other) {
    return tape.count() == other.tape.count() && tape.mark().equals(other.tape.mark());
  }

  /** Whether the source would see other nodes now. */
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

  /** Notes the levels at which a source looks. */
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

    /** To be made before the answer joins the nodes. */
    SourceResult answer(NodeBuffer tape, Instant at) {
      return new SourceResult(tape, hashes(nodes, levels).packed(), List.copyOf(levels), at, null);
    }
  }
}
