package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.PartitionReachability;
import io.espalier.core.topology.TopologyBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes the tree of one shard without ever unpacking the nodes of the others, as long as they are
 * on the lowest level, where nearly all nodes are. Those above are taken in full: sources are shown
 * them, and who has a node follows from them.
 *
 * <p>To be used once: all answers are {@linkplain #add added}, in the order of their sources; then
 * {@link #lacking} tells whether what was left out of an earlier answer is needed now; if not,
 * {@link #pour} gives a builder what it needs, which leads to the same tree as all nodes would.
 * Decisions are made by hashes, so that by chance a node too many may be kept, never one too few.
 */
final class PartitionAssembler {
  private final TopologyBuilder above;
  private final int bottom;
  private final List<Part> parts = new ArrayList<>();
  private final LongHashSet wanted = new LongHashSet();
  private boolean bottomShown;
  private boolean several;

  /**
   * An answer, or what a computed source says.
   *
   * @param atBottom whether there are nodes on the lowest level
   * @param nodes these, when several parts have such
   */
  private record Part(
      PolledSource source,
      NodeBuffer tape,
      boolean strict,
      @Nullable ExcludedNodes left,
      boolean atBottom,
      LongHashSet nodes) {}

  /**
   * @param above without nodes; gets all that are above the lowest level
   */
  PartitionAssembler(TopologyBuilder above, Levels levels) {
    this.above = above;
    this.bottom = levels.bottom();
  }

  /** What sources are shown; see {@link #isBottomShown}. */
  NodeLookup shown() {
    return level -> {
      bottomShown |= level == bottom;
      return above.names(level);
    };
  }

  /** Whether a source wanted to see the lowest level, so that a sieve cannot be used. */
  boolean isBottomShown() {
    return bottomShown;
  }

  /**
   * @param strict whether a node without its parent is a problem; it is ignored otherwise
   * @param left what the tape lacks; null: nothing
   */
  void add(PolledSource source, NodeBuffer tape, boolean strict, @Nullable ExcludedNodes left) {
    boolean[] atBottom = {left != null};
    tape.forEach(
        node -> {
          if (node.level() == bottom) {
            atBottom[0] = true;
          } else if (strict || isPlaced(node, above)) {
            above.add(node);
          }
        });
    parts.add(new Part(source, tape, strict, left, atBottom[0], new LongHashSet()));
  }

  private static boolean isPlaced(NodeSpec node, TopologyBuilder nodes) {
    String parent = node.parent();
    return parent == null || nodes.contains(node.parentLevel(), parent);
  }

  /** The sources whose answers lack something that is needed now; empty: {@link #pour} may come. */
  List<PolledSource> lacking() {
    several = parts.stream().filter(Part::atBottom).count() > 1;
    PartitionReachability reach = above.reach();
    parts.forEach(part -> want(part, reach));
    List<PolledSource> lacking = new ArrayList<>();
    for (Part part : parts) {
      ExcludedNodes left = part.left;
      if (left != null && (isReached(left, reach) || isShared(part, left))) {
        lacking.add(part.source);
      }
    }
    wantShared();
    return lacking;
  }

  /** Nodes of this shard, and those listed twice, so that it is found wherever it is. */
  private void want(Part part, PartitionReachability reach) {
    LongHashSet places = new LongHashSet();
    part.tape.forEach(
        node -> {
          if (node.level() != bottom) {
            return;
          }
          if (reach.reaches(node)) {
            wanted.add(ChangeGuardCheck.hash(node));
          }
          if (several) {
            part.nodes.add(ChangeGuardCheck.hash(node));
          }
          if (part.strict) {
            places.add(
                LongHashSet.of(ChangeGuardCheck.hash(node), ChangeGuardCheck.parentHash(node)));
          }
        });
    LongHashSet twice = places.repeated();
    if (!twice.isEmpty()) {
      part.tape.forEach(
          node -> {
            long place =
                LongHashSet.of(ChangeGuardCheck.hash(node), ChangeGuardCheck.parentHash(node));
            if (node.level() == bottom && twice.contains(place)) {
              wanted.add(ChangeGuardCheck.hash(node));
            }
          });
    }
  }

  private static boolean isReached(ExcludedNodes left, PartitionReachability reach) {
    boolean[] found = {false};
    reach.forEach(
        (level, name) -> found[0] |= left.parents().contains(LongHashSet.of(level, name)));
    return found[0];
  }

  /** Whether another source has one of the nodes that were left out, or that cannot be told. */
  @SuppressWarnings("ReferenceEquality") // another one, not one that is alike
  private boolean isShared(Part part, ExcludedNodes left) {
    LongHashSet nodes = left.nodes();
    return several
        && (nodes == null
            || parts.stream().anyMatch(other -> other != part && nodes.meets(other.nodes)));
  }

  /** Nodes that several sources have: which scheduler has one follows from all its places. */
  private void wantShared() {
    for (int i = 0; i < parts.size(); i++) {
      for (int j = 0; j < i; j++) {
        parts.get(i).nodes.common(parts.get(j).nodes, wanted);
      }
    }
  }

  /** Adds what is needed to a builder without nodes, all in its place. */
  void pour(TopologyBuilder into) {
    for (Part part : parts) {
      into.from(part.source.spec().path());
      part.tape.forEach(
          node -> {
            if (!isWanted(node)) {
              if (part.strict) {
                into.check(node);
              }
            } else if (part.strict || isPlaced(node, into)) {
              into.add(node);
            }
          });
    }
  }

  private boolean isWanted(NodeSpec node) {
    return node.level() != bottom || wanted.contains(ChangeGuardCheck.hash(node));
  }

  /** What is to be kept of an answer that was added. */
  SourceResult kept(SourceResult answer) {
    if (answer.left() != null) {
      // The same as before, of which less is kept already.
      return answer;
    }
    LongHashSet parents = new LongHashSet();
    LongHashSet nodes = new LongHashSet();
    boolean[] complete = {true};
    Predicate<NodeSpec> keeping =
        node -> {
          boolean keep = isWanted(node);
          if (!keep) {
            complete[0] = false;
            if (node.parent() != null && node.parentLevel() != 0) {
              parents.addUnlessLast(ChangeGuardCheck.parentHash(node));
            }
            if (several) {
              nodes.add(ChangeGuardCheck.hash(node));
            }
          }
          return keep;
        };
    NodeBuffer tape = answer.tape().only(keeping);
    return complete[0]
        ? answer
        : answer.with(tape, new ExcludedNodes(parents.packed(), several ? nodes.packed() : null));
  }
}
