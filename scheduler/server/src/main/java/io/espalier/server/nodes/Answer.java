package io.espalier.server.nodes;

import io.espalier.core.topology.NodesSoFar;
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
record Answer(
    NodeTape tape, Hashes inputs, List<Integer> inputLevels, Instant at, @Nullable LeftOut left) {
  /** Of the same answer, given again later, what was kept of this one. */
  Answer again(Answer later) {
    return new Answer(tape, later.inputs, later.inputLevels, later.at, left);
  }

  /** The same answer, of which less is kept. */
  Answer with(NodeTape shorter, LeftOut leftOut) {
    return new Answer(shorter, inputs, inputLevels, at, leftOut);
  }

  boolean sameNodes(Answer other) {
    return tape.count() == other.tape.count() && tape.mark().equals(other.tape.mark());
  }

  /** Whether the source would see other nodes now. */
  boolean sawOthers(NodesSoFar now) {
    return !inputLevels.isEmpty() && !inputs.same(hashes(now, inputLevels));
  }

  private static Hashes hashes(NodesSoFar nodes, Iterable<Integer> levels) {
    Hashes hashes = new Hashes();
    for (int level : levels) {
      for (String name : nodes.names(level)) {
        hashes.add(Hashes.of(level, name));
      }
    }
    return hashes;
  }

  /** Notes the levels at which a source looks. */
  static final class Inputs implements NodesSoFar {
    private final NodesSoFar nodes;
    private final TreeSet<Integer> levels = new TreeSet<>();

    Inputs(NodesSoFar nodes) {
      this.nodes = nodes;
    }

    @Override
    public List<String> names(int level) {
      levels.add(level);
      return nodes.names(level);
    }

    /** To be made before the answer joins the nodes. */
    Answer answer(NodeTape tape, Instant at) {
      return new Answer(tape, hashes(nodes, levels).packed(), List.copyOf(levels), at, null);
    }
  }
}
