package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * Compares two answers of a node source and reports changes so large that the source is more likely
 * broken than right (features, idea 10).
 *
 * <p>A source is judged only by its own nodes: nodes that disappeared or appeared together with a
 * parent from another source do not count. Nor do the nodes of other schedulers when several share
 * the source: a node that comes from another scheduler counts as new, and one that goes there as
 * moved. One node may always disappear or move, and ten may always appear, since percentages are
 * meaningless for a handful; but no level that had nodes may become empty.
 */
final class ChangeGuardCheck {
  private static final int ALWAYS_GONE = 1;
  private static final int ALWAYS_NEW = 10;
  private static final int SAMPLES = 5;

  private final NodeChangeGuard guard;
  private final Levels levels;
  private final Count[] counts;

  /** The counts of one level. */
  private static final class Count {
    private long before;
    private long left;
    private final Changed removed = new Changed();
    private final Changed added = new Changed();
    private final Changed moved = new Changed();
  }

  /** The number of changed nodes, and the first of them. */
  private static final class Changed {
    private long number;
    private final List<String> samples = new ArrayList<>();

    void add(String name) {
      number++;
      if (samples.size() < SAMPLES) {
        samples.add("\"" + name + "\"");
      }
    }
  }

  private ChangeGuardCheck(NodeChangeGuard guard, Levels levels) {
    this.guard = guard;
    this.levels = levels;
    this.counts = new Count[levels.count()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new Count();
    }
  }

  /**
   * Returns the objections to the new answer, each as a part of a sentence; empty if it is
   * acceptable.
   *
   * @param now the nodes of the preceding sources
   */
  static List<String> objections(
      NodeChangeGuard guard,
      Levels levels,
      SourceResult old,
      SourceResult fresh,
      TopologyBuilder now) {
    ChangeGuardCheck check = new ChangeGuardCheck(guard, levels);
    check.count(old, fresh, now);
    return check.objections();
  }

  private void count(SourceResult old, SourceResult fresh, TopologyBuilder now) {
    Predicate<NodeSpec> wasHere = PartitionMembership.of(old.tape(), levels, now);
    Predicate<NodeSpec> isHere = PartitionMembership.of(fresh.tape(), levels, now);
    LongHashSet oldNodes = new LongHashSet();
    LongHashSet oldParents = new LongHashSet();
    old.tape()
        .forEach(
            node -> {
              oldNodes.add(hash(node));
              oldParents.add(parentHash(node));
            });
    LongHashSet freshNodes = new LongHashSet();
    LongHashSet freshPairs = new LongHashSet();
    fresh
        .tape()
        .forEach(
            node -> {
              // Nodes that did not exist before are irrelevant here.
              if (oldNodes.contains(hash(node))) {
                freshNodes.add(hash(node));
                freshPairs.add(LongHashSet.of(hash(node), parentHash(node)));
              }
            });
    old.tape()
        .forEach(
            node -> {
              long parent = parentHash(node);
              boolean parentStays =
                  node.parent() == null
                      || oldNodes.contains(parent)
                      || now.contains(node.parentLevel(), node.parent());
              if (parentStays && wasHere.test(node)) {
                Count count = counts[node.level()];
                count.before++;
                if (!freshNodes.contains(hash(node))) {
                  count.removed.add(node.name());
                } else if (!freshPairs.contains(LongHashSet.of(hash(node), parent))) {
                  count.moved.add(node.name());
                }
              }
            });
    fresh
        .tape()
        .forEach(
            node -> {
              if (!isHere.test(node)) {
                return;
              }
              long parent = parentHash(node);
              Count count = counts[node.level()];
              count.left++;
              boolean parentWasThere =
                  node.parent() == null
                      || oldNodes.contains(parent)
                      || oldParents.contains(parent)
                      || old.inputs().contains(parent);
              if (parentWasThere && !oldNodes.contains(hash(node))) {
                count.added.add(node.name());
              }
            });
  }

  static long hash(NodeSpec node) {
    return LongHashSet.of(node.level(), node.name());
  }

  static long parentHash(NodeSpec node) {
    return LongHashSet.of(node.parentLevel(), node.parent());
  }

  private List<String> objections() {
    List<String> objections = new ArrayList<>();
    for (int level = 0; level < counts.length; level++) {
      Count count = counts[level];
      if (count.before == 0) {
        continue;
      }
      String of = count.before + " nodes of level \"" + levels.name(level) + "\"";
      if (count.left == 0 && guard.removedPercent() < 100) {
        objections.add("removes all " + of);
      } else {
        add(objections, "removes", count.removed, of, count, guard.removedPercent(), ALWAYS_GONE);
      }
      add(objections, "adds", count.added, "to the " + of, count, guard.addedPercent(), ALWAYS_NEW);
      String moves = "moves to other parents";
      add(objections, moves, count.moved, of, count, guard.reparentedPercent(), ALWAYS_GONE);
    }
    return objections;
  }

  private static void add(
      List<String> objections,
      String verb,
      Changed changed,
      String of,
      Count count,
      double percent,
      int always) {
    double most = Math.max(always, Math.floor(count.before * percent / 100));
    if (changed.number > most) {
      String more = changed.number > changed.samples.size() ? ", …" : "";
      objections.add(
          "%s %d %s (%s %%, allowed are %s %%: %s%s)"
              .formatted(
                  verb,
                  changed.number,
                  of.startsWith("to") ? of : "of " + of,
                  shown(100.0 * changed.number / count.before),
                  shown(percent),
                  String.join(", ", changed.samples),
                  more));
    }
  }

  private static String shown(double percent) {
    return percent == Math.rint(percent)
        ? Long.toString(Math.round(percent))
        : String.format(Locale.ROOT, "%.1f", percent);
  }
}
