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
 * Builds the tree of one partition without unpacking the nodes of the others, as long as those are
 * on the lowest level, where nearly all nodes are. It reads the nodes of the levels above
 * completely, because sources see them and they determine to which partition a node belongs.
 *
 * <p>For single use. First all answers are {@linkplain #add added}, in the order of their sources.
 * Then {@link #lacking} returns the sources whose earlier answer was reduced too far. If there are
 * none, {@link #pour} adds the needed nodes to a builder, which leads to the same tree as all nodes
 * would. Decisions use hashes, so that by chance a node too many may be kept, never one too few.
 */
final class PartitionAssembler {
  private final TopologyBuilder above;
  private final int bottom;
  private final List<Part> parts = new ArrayList<>();
  private final LongHashSet wanted = new LongHashSet();
  private boolean bottomShown;
  private boolean several;

  /**
   * An answer of a source, or the nodes of a computed source.
   *
   * @param atBottom whether it has nodes on the lowest level
   * @param nodes the hashes of these nodes, when several parts have such nodes
   */
  private record Part(
      PolledSource source,
      NodeBuffer tape,
      boolean strict,
      @Nullable ExcludedNodes left,
      boolean atBottom,
      LongHashSet nodes) {}

  /**
   * @param above a builder without nodes; receives all nodes above the lowest level
   */
  PartitionAssembler(TopologyBuilder above, Levels levels) {
    this.above = above;
    this.bottom = levels.bottom();
  }

  /** Returns the nodes that sources can see; see {@link #isBottomShown}. */
  NodeLookup shown() {
    return level -> {
      bottomShown |= level == bottom;
      return above.names(level);
    };
  }

  /** Returns true when a source read the lowest level, so that all nodes must be kept. */
  boolean isBottomShown() {
    return bottomShown;
  }

  /**
   * @param strict whether a node without its parent is a problem; otherwise it is ignored
   * @param left what was left out of the tape; null: nothing
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

  /**
   * Returns the sources whose answers lack nodes that are needed now; when empty, {@link #pour} may
   * be called.
   */
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

  /**
   * Selects the nodes of this partition, and those listed twice, so that the duplicate is detected
   * wherever it is.
   */
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

  /** Returns true when another source has one of the left-out nodes, or may have one. */
  @SuppressWarnings("ReferenceEquality") // Compares identity: another source, even if it is equal.
  private boolean isShared(Part part, ExcludedNodes left) {
    LongHashSet nodes = left.nodes();
    return several
        && (nodes == null
            || parts.stream().anyMatch(other -> other != part && nodes.meets(other.nodes)));
  }

  /**
   * Selects the nodes that several sources list, because the partition of such a node depends on
   * all its places.
   */
  private void wantShared() {
    for (int i = 0; i < parts.size(); i++) {
      for (int j = 0; j < i; j++) {
        parts.get(i).nodes.common(parts.get(j).nodes, wanted);
      }
    }
  }

  /** Adds the needed nodes to a builder without nodes, in their order. */
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

  /** Reduces an added answer to what must be kept of it. */
  SourceResult kept(SourceResult answer) {
    if (answer.left() != null) {
      // The same answer as before, already reduced.
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
