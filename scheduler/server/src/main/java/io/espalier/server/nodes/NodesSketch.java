package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A sketch of the last good answer of a node source, kept across a restart. For each level it has
 * the number of nodes and a sample, drawn by a hash of their names, so that the change guard can
 * judge a later answer approximately. Immutable.
 *
 * @param path of the source in the configuration
 * @param question identifies the source: its kind and its preferences
 * @param at when the answer was given
 * @param levels by name
 */
record NodesSketch(String path, String question, Instant at, Map<String, Level> levels) {
  /** The sample size, enough to estimate a percentage within a few per cent. */
  private static final int DRAWN = 500;

  private static final int SAMPLES = 5;
  private static final int ALWAYS_GONE = 1;
  private static final int ALWAYS_NEW = 10;

  /**
   * The nodes of one level.
   *
   * @param count number of nodes; a replica counts once for each parent
   * @param drawn all of them, or a sample of {@link #DRAWN}
   */
  record Level(long count, List<Drawn> drawn) {}

  /**
   * A node of the sample.
   *
   * @param parentLevel name of the level of its parent
   * @param parent empty: no parent
   */
  record Drawn(String name, String parentLevel, String parent) {}

  static NodesSketch of(
      String path, String question, Levels levels, SourceResult answer, TopologyBuilder soFar) {
    Predicate<NodeSpec> isHere = PartitionMembership.of(answer.tape(), levels, soFar);
    Map<String, Long> counts = new TreeMap<>();
    Map<String, PriorityQueue<NodeSpec>> drawn = new TreeMap<>();
    // The largest hash comes first, so that a smaller one can replace it.
    Comparator<NodeSpec> order = Comparator.comparingLong(ChangeGuardCheck::hash).reversed();
    answer
        .tape()
        .forEach(
            node -> {
              if (isHere.test(node)) {
                String level = levels.name(node.level());
                counts.merge(level, 1L, Long::sum);
                PriorityQueue<NodeSpec> some =
                    drawn.computeIfAbsent(level, l -> new PriorityQueue<>(order));
                some.add(node);
                if (some.size() > DRAWN) {
                  some.remove();
                }
              }
            });
    Map<String, Level> sketched = new TreeMap<>();
    drawn.forEach(
        (level, some) ->
            sketched.put(
                level,
                new Level(
                    counts.getOrDefault(level, 0L),
                    some.stream()
                        .sorted(order.reversed().thenComparing(NodeSpec::name))
                        .map(node -> drawn(node, levels))
                        .toList())));
    return new NodesSketch(path, question, answer.at(), sketched);
  }

  private static Drawn drawn(NodeSpec node, Levels levels) {
    String parent = node.parent();
    return parent == null
        ? new Drawn(node.name(), "", "")
        : new Drawn(node.name(), levels.name(node.parentLevel()), parent);
  }

  /**
   * Returns the objections to an answer compared with this sketch, each as a part of a sentence;
   * empty if it is acceptable.
   *
   * @param now the nodes of the preceding sources
   */
  List<String> objections(
      NodeChangeGuard guard, Levels now, SourceResult fresh, TopologyBuilder soFar) {
    Predicate<NodeSpec> isHere = PartitionMembership.of(fresh.tape(), now, soFar);
    LongHashSet nodes = new LongHashSet();
    LongHashSet pairs = new LongHashSet();
    long[] counts = new long[now.count()];
    fresh
        .tape()
        .forEach(
            node -> {
              if (isHere.test(node)) {
                counts[node.level()]++;
                nodes.add(ChangeGuardCheck.hash(node));
                pairs.add(
                    LongHashSet.of(ChangeGuardCheck.hash(node), ChangeGuardCheck.parentHash(node)));
              }
            });
    List<String> objections = new ArrayList<>();
    levels.forEach(
        (name, level) -> {
          int number = now.find(name);
          if (number >= 0 && level.count() > 0) {
            judge(guard, now, soFar, level, number, counts[number], nodes, pairs, objections);
          }
        });
    return objections;
  }

  private void judge(
      NodeChangeGuard guard,
      Levels now,
      TopologyBuilder soFar,
      Level level,
      int number,
      long left,
      LongHashSet nodes,
      LongHashSet pairs,
      List<String> objections) {
    List<String> removed = new ArrayList<>();
    List<String> moved = new ArrayList<>();
    int judged = 0;
    for (Drawn node : level.drawn()) {
      int parentLevel = now.find(node.parentLevel());
      boolean hasParent = !node.parentLevel().isEmpty();
      boolean parentStays =
          !hasParent
              || levels.containsKey(node.parentLevel())
              || (parentLevel >= 0 && soFar.contains(parentLevel, node.parent()));
      if (!parentStays) {
        continue;
      }
      judged++;
      long hash = LongHashSet.of(number, node.name());
      NodeSpec same = NodeSpec.child(number, node.name(), hasParent ? node.parent() : null);
      long parent =
          hasParent
              ? LongHashSet.of(parentLevel, node.parent())
              : ChangeGuardCheck.parentHash(same);
      if (!nodes.contains(hash)) {
        removed.add(node.name());
      } else if (!pairs.contains(LongHashSet.of(hash, parent))) {
        moved.add(node.name());
      }
    }
    String of = level.count() + " nodes of level \"" + now.name(number) + "\"";
    if (left == 0 && judged > 0 && guard.removedPercent() < 100) {
      objections.add("removes all " + of);
      return;
    }
    Share gone = new Share(removed.size(), judged, level);
    gone.add(objections, "removes", "of " + of, removed, guard.removedPercent());
    new Share(moved.size(), judged, level)
        .add(objections, "moves to other parents", "of " + of, moved, guard.reparentedPercent());
    long stayed = level.count() - Math.round(gone.most() * level.count());
    long added = left - stayed;
    double allowed = Math.max(ALWAYS_NEW, level.count() * guard.addedPercent() / 100);
    if (added - Math.round(2 * gone.error() * level.count()) > allowed
        && judged == level.drawn().size()) {
      objections.add("adds about %d to the %s".formatted(added, of));
    }
  }

  /** A number of sampled nodes, as a share of the sample. */
  private record Share(int number, int of, Level level) {
    double most() {
      return of == 0 ? 0 : (double) number / of;
    }

    /**
     * Returns the sampling error that is almost never exceeded; 0 when the sample contains all
     * nodes.
     */
    double error() {
      double share = most();
      return level.drawn().size() == level.count() || of == 0
          ? 0
          : 3 * Math.sqrt(share * (1 - share) / of);
    }

    void add(
        List<String> objections, String verb, String ofWhat, List<String> names, double percent) {
      double least = (most() - error()) * level.count();
      if (least > Math.max(ALWAYS_GONE, Math.floor(level.count() * percent / 100))) {
        objections.add(
            "%s about %d %s (%.1f %%, allowed are %s %%: %s%s)"
                .formatted(
                    verb,
                    Math.round(most() * level.count()),
                    ofWhat,
                    100 * most(),
                    String.format(Locale.ROOT, "%.0f", percent),
                    String.join(
                        ", ", names.stream().limit(SAMPLES).map(n -> '"' + n + '"').toList()),
                    names.size() > SAMPLES ? ", …" : ""));
      }
    }
  }

  Json.Obj toJson() {
    Json.Builder byLevel = Json.object();
    levels.forEach(
        (name, level) -> {
          List<Json> drawn = new ArrayList<>();
          level
              .drawn()
              .forEach(
                  node ->
                      drawn.add(
                          Json.strings(List.of(node.name(), node.parentLevel(), node.parent()))));
          byLevel.put(
              name,
              Json.object().put("count", level.count()).put("drawn", new Json.Arr(drawn)).build());
        });
    return Json.object()
        .put("path", path)
        .put("question", question)
        .put("at_ms", at.toEpochMilli())
        .put("levels", byLevel.build())
        .build();
  }

  /** Parses the output of {@link #toJson}; skips what does not have that form. */
  static NodesSketch of(Json.Obj json) {
    Map<String, Level> levels = new TreeMap<>();
    if (json.get("levels") instanceof Json.Obj byLevel) {
      byLevel
          .members()
          .forEach(
              (name, value) -> {
                if (value instanceof Json.Obj level && level.get("drawn") instanceof Json.Arr all) {
                  List<Drawn> drawn = new ArrayList<>();
                  for (Json each : all.items()) {
                    if (each instanceof Json.Arr node && node.items().size() == 3) {
                      drawn.add(
                          new Drawn(
                              text(node.items().get(0)),
                              text(node.items().get(1)),
                              text(node.items().get(2))));
                    }
                  }
                  levels.put(name, new Level(number(level.get("count")), List.copyOf(drawn)));
                }
              });
    }
    return new NodesSketch(
        text(json.get("path")),
        text(json.get("question")),
        Instant.ofEpochMilli(number(json.get("at_ms"))),
        levels);
  }

  private static String text(@Nullable Json value) {
    return value instanceof Json.Str text ? text.value() : "";
  }

  private static long number(@Nullable Json value) {
    return value instanceof Json.Num number ? number.value().longValue() : 0;
  }
}
