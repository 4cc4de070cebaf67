package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeNames;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.nodes.ParentAlternatives.Alternative;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code manual}: the tree is written out in the configuration
 * (docs/design/bistro.md#the-source-manual).
 *
 * <p>The preferences map a node to the list of its children, to a single child, or to an object
 * with any of {@code children}, {@code disabled}, {@code tags}, {@code attributes} and {@code
 * alternatives}, which lists its parents and its role, tags and state under each. A node that is
 * nobody's child is a child of the instance. A child needs no entry of its own. A child under two
 * parents is a replica. Names are data: no key is a comment here. Siblings keep the order of the
 * text, roots that of their entries.
 */
public final class ManualNodes implements NodeSource {
  private static final Entry PLAIN = new Entry(List.of(), true, Set.of(), Json.Obj.EMPTY, Map.of());

  private final Map<String, Entry> entries;
  private final List<String> roots;

  private ManualNodes(Map<String, Entry> entries, List<String> roots) {
    this.entries = entries;
    this.roots = roots;
  }

  /**
   * The configured properties of one node.
   *
   * @param alternatives by parent
   */
  private record Entry(
      List<String> children,
      boolean enabled,
      Set<String> tags,
      Json.Obj attributes,
      Map<String, Alternative> alternatives) {
    Entry withChildren(Collection<String> all) {
      return new Entry(List.copyOf(all), enabled, tags, attributes, alternatives);
    }
  }

  @Override
  public boolean isComputed() {
    return true;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink) {
    List<String> level = new ArrayList<>();
    for (String root : roots) {
      level.add(root);
      sink.add(spec(1, root, null));
    }
    for (int depth = 2; !level.isEmpty(); depth++) {
      // A replica is one node: its children are listed once, no matter how many parents it has.
      Set<String> next = new LinkedHashSet<>();
      for (String parent : level) {
        for (String child : entry(parent).children) {
          next.add(child);
          sink.add(spec(depth, child, parent));
        }
      }
      level = new ArrayList<>(next);
    }
  }

  private NodeSpec spec(int level, String name, @Nullable String parent) {
    Entry entry = entry(name);
    NodeSpec node =
        new NodeSpec(level, name, parent, level - 1, entry.enabled, entry.tags, entry.attributes);
    Alternative place = parent == null ? null : entry.alternatives.get(parent);
    return place == null ? node : place.of(node);
  }

  private Entry entry(String name) {
    return entries.getOrDefault(name, PLAIN);
  }

  /** Checks the tree and creates the source. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "manual";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      return new Reading(new Prefs(spec), levels).read();
    }
  }

  /** A single pass over the preferences. */
  private static final class Reading {
    private final Prefs prefs;
    private final Levels levels;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    Reading(Prefs prefs, Levels levels) {
      this.prefs = prefs;
      this.levels = levels;
    }

    Result<NodeSource> read() {
      Set<String> mentioned = new HashSet<>();
      prefs
          .object()
          .members()
          .forEach(
              (name, value) -> {
                Position at = prefs.object().keyAt(name);
                checkName(name, prefs.at(name), at);
                if (name.startsWith("//") || name.equals("_comment")) {
                  prefs.warning(prefs.at(name), at, "this is a node here, not a comment", null);
                }
                Entry entry = entry(name, value);
                entries.put(name, entry);
                mentioned.addAll(entry.children);
              });
      addToParents(mentioned);
      List<String> roots =
          entries.keySet().stream().filter(name -> !mentioned.contains(name)).toList();
      if (!findCycles()) {
        checkDepth(roots);
      }
      return prefs.finishWithoutKeys(() -> new ManualNodes(entries, roots));
    }

    private Entry entry(String name, Json value) {
      String path = prefs.at(name);
      if (!(value instanceof Json.Obj object)) {
        String what = "a list of children, a single child or an object";
        return new Entry(children(value, path, what), true, Set.of(), Json.Obj.EMPTY, Map.of());
      }
      Prefs inside = prefs.inside(object, path);
      Json children = inside.get("children");
      Entry entry =
          new Entry(
              children == null
                  ? List.of()
                  : children(children, inside.at("children"), "a list of children"),
              !inside.bool("disabled", false),
              inside.tags("tags"),
              inside.object("attributes"),
              alternatives(inside));
      inside.reportUnknownKeys();
      return entry;
    }

    private Map<String, Alternative> alternatives(Prefs inside) {
      Json value = inside.get(ParentAlternatives.KEY);
      try {
        Map<String, Alternative> places = new LinkedHashMap<>();
        ParentAlternatives.read(value).forEach(place -> places.put(place.parent(), place));
        return places;
      } catch (UnusableNodeException e) {
        inside.error(
            inside.at(ParentAlternatives.KEY),
            inside.object().keyAt(ParentAlternatives.KEY),
            value,
            "this node " + e.getMessage());
        return Map.of();
      }
    }

    /**
     * Makes a node with alternatives a child of each of their parents, whether listed there or not.
     */
    private void addToParents(Set<String> mentioned) {
      Map<String, Set<String>> children = new LinkedHashMap<>();
      entries.forEach(
          (name, entry) -> {
            for (String parent : entry.alternatives.keySet()) {
              children
                  .computeIfAbsent(
                      parent, p -> new LinkedHashSet<>(entries.getOrDefault(p, PLAIN).children))
                  .add(name);
              mentioned.add(name);
            }
          });
      children.forEach(
          (parent, all) ->
              entries.put(parent, entries.getOrDefault(parent, PLAIN).withChildren(all)));
    }

    private List<String> children(Json value, String path, String what) {
      if (value instanceof Json.Str single) {
        checkName(single.value(), path, single.at());
        return List.of(single.value());
      }
      if (!(value instanceof Json.Arr list)) {
        prefs.error(path, value.at(), value, "expected " + what + ", not " + value.kind());
        return List.of();
      }
      Set<String> names = new LinkedHashSet<>();
      for (int i = 0; i < list.items().size(); i++) {
        Json item = list.items().get(i);
        String itemPath = path + "[" + i + "]";
        if (!(item instanceof Json.Str string)) {
          prefs.error(
              itemPath, item.at(), item, "expected the name of a child, not " + item.kind());
        } else if (!names.add(string.value())) {
          prefs.error(itemPath, item.at(), item, "this child is listed twice");
        } else {
          checkName(string.value(), itemPath, item.at());
        }
      }
      return List.copyOf(names);
    }

    private void checkName(String name, String path, Position at) {
      String objection = NodeNames.objection(name);
      if (objection != null) {
        prefs.error(path, at, Json.of(name), "the node name " + objection);
      }
    }

    /** Searches depth-first without recursion: the chain may be as long as the configuration. */
    private boolean findCycles() {
      Map<String, Integer> placeOnPath = new HashMap<>();
      Set<String> finished = new HashSet<>();
      boolean found = false;
      for (String start : entries.keySet()) {
        List<String> path = new ArrayList<>();
        List<Iterator<String>> rest = new ArrayList<>();
        enter(start, path, rest, placeOnPath, finished);
        while (!path.isEmpty()) {
          int last = path.size() - 1;
          if (!rest.get(last).hasNext()) {
            placeOnPath.remove(path.get(last));
            finished.add(path.remove(last));
            rest.remove(last);
            continue;
          }
          String child = rest.get(last).next();
          Integer place = placeOnPath.get(child);
          if (place != null) {
            found = true;
            reportCycle(path.subList(place, path.size()));
          } else {
            enter(child, path, rest, placeOnPath, finished);
          }
        }
      }
      return found;
    }

    private void enter(
        String name,
        List<String> path,
        List<Iterator<String>> rest,
        Map<String, Integer> placeOnPath,
        Set<String> finished) {
      Entry entry = entries.get(name);
      if (entry != null && !finished.contains(name)) {
        placeOnPath.put(name, path.size());
        path.add(name);
        rest.add(entry.children.iterator());
      }
    }

    private void reportCycle(List<String> cycle) {
      String first = cycle.get(0);
      boolean isLong = cycle.size() > 10;
      List<String> shown = new ArrayList<>(isLong ? cycle.subList(0, 9) : cycle);
      if (isLong) {
        shown.add("… " + (cycle.size() - 9) + " more");
      }
      shown.add(first);
      prefs.error(
          prefs.at(first),
          prefs.object().keyAt(first),
          null,
          "the nodes are below themselves: " + String.join(" -> ", shown));
    }

    private void checkDepth(Collection<String> roots) {
      Map<String, String> level = new LinkedHashMap<>();
      roots.forEach(root -> level.put(root, root));
      for (int depth = 1; !level.isEmpty(); depth++) {
        if (depth > levels.bottom()) {
          tooDeep(level);
          return;
        }
        Map<String, String> next = new LinkedHashMap<>();
        level
            .keySet()
            .forEach(
                name ->
                    entries
                        .getOrDefault(name, PLAIN)
                        .children
                        .forEach(child -> next.putIfAbsent(child, name)));
        level.clear();
        level.putAll(next);
      }
    }

    /**
     * @param nodes map from node to one of its parents; a root maps to itself
     */
    private void tooDeep(Map<String, String> nodes) {
      nodes.forEach(
          (name, parent) ->
              prefs.error(
                  prefs.at(parent),
                  prefs.object().keyAt(parent),
                  null,
                  "the node \""
                      + name
                      + "\" would be "
                      + (levels.bottom() + 1)
                      + " deep, but there are only the levels "
                      + levels.configured()));
    }
  }
}
