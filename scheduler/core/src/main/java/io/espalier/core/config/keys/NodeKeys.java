package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.oneOf;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of {@code bistro_settings.nodes}. */
final class NodeKeys extends Section<NodeKeys.Tree> {
  /** The node tree: what its levels are, and where its nodes come from. */
  record Tree(Levels levels, List<NodeSourceSpec> sources, NodeOrder order) {}

  /** The mark of a quarantined answer: hexadecimal digits. */
  private static final Pattern MARK = Pattern.compile("[0-9a-f]{12}");

  /** {@code change_guard} of a node source. */
  static final Section<NodeChangeGuard> CHANGE_GUARD =
      new Section<>(
          "change_guard",
          "How much an answer of the source may change its nodes before it is held, and the last"
              + " good nodes stay in force.",
          NodeChangeGuard.DEFAULT) {
        private final Key<NodeChangeGuard, Boolean> enabled =
            own("enabled", bool(), NodeChangeGuard::enabled, "Whether anything is held.");
        private final Key<NodeChangeGuard, Double> removed =
            own(
                "removed_percent",
                number(0, 100),
                NodeChangeGuard::removedPercent,
                "Percent of the nodes of a level that may be gone. One may always go; a level that"
                    + " had nodes may never become empty, except with 100.");
        private final Key<NodeChangeGuard, Double> added =
            own(
                "added_percent",
                number(0, 1e9),
                NodeChangeGuard::addedPercent,
                "Percent of the nodes of a level that may be new. Ten may always come.");
        private final Key<NodeChangeGuard, Double> reparented =
            own(
                "reparented_percent",
                number(0, 100),
                NodeChangeGuard::reparentedPercent,
                "Percent of the nodes of a level that may lie under another parent. One may always"
                    + " move.");
        private final Key<NodeChangeGuard, Integer> confirmations =
            own(
                "confirmations",
                int32(0),
                NodeChangeGuard::confirmations,
                "A held answer that is not empty is accepted when it came so often in a row; 0:"
                    + " never.");

        @Override
        public NodeChangeGuard read(ConfigObject in, NodeChangeGuard base) {
          return new NodeChangeGuard(
              in.get(enabled, base),
              in.get(removed, base),
              in.get(added, base),
              in.get(reparented, base),
              in.get(confirmations, base),
              base.allow());
        }
      };

  /** An entry of {@code nodes.node_sources}. */
  static final Section<NodeSourceSpec> NODE_SOURCE =
      new Section<>(
          "node_sources", "A source of nodes.", new NodeSourceSpec("", Json.Obj.EMPTY, "")) {
        private final Key<NodeSourceSpec, String> source =
            key(
                    "source",
                    ValueType.known("node source", Names::nodeSources),
                    NodeSourceSpec::source,
                    "The kind: `empty`, `manual`, `range_label`, `add_time`, `script`, `file`,"
                        + " `http`, `sql`, `zookeeper`, or another that is installed; [see"
                        + " below](#what-each-kind-takes-in-prefs).")
                .required("the name of a node source");
        private final Key<NodeSourceSpec, Json.Obj> prefs =
            key(
                "prefs",
                ValueType.object(),
                NodeSourceSpec::prefs,
                "What the source wants to know.");
        private final Key<NodeSourceSpec, NodeChangeGuard> guard =
            own(
                "change_guard",
                CHANGE_GUARD.type(),
                NodeSourceSpec::guard,
                "How much an answer may change.");
        private final Key<NodeSourceSpec, String> allowed =
            own(
                "allow_change",
                allowedChange(),
                spec -> spec.guard().allow(),
                "`true`: any change of this source is accepted; the mark of a held answer, as the"
                    + " problem shows it: that answer is.");

        @Override
        public @Nullable NodeSourceSpec read(ConfigObject in, NodeSourceSpec base) {
          String name = in.read(source, base);
          NodeChangeGuard limits = in.get(guard, base);
          NodeChangeGuard checked =
              new NodeChangeGuard(
                  limits.enabled(),
                  limits.removedPercent(),
                  limits.addedPercent(),
                  limits.reparentedPercent(),
                  limits.confirmations(),
                  in.get(allowed, base));
          Json.Obj given = in.get(prefs, base);
          return name == null
              ? null
              : new NodeSourceSpec(name, given, checked, in.value().path().toString());
        }
      };

  /** The keys of the tree. */
  static final NodeKeys NODES = new NodeKeys();

  final Key<Tree, Levels> levels =
      key(
              "levels",
              levelNames(),
              Tree::levels,
              "The levels of the tree, the top one first. Above them is always `instance`, with one"
                  + " node; below them `worker`, with none. Neither may be listed.")
          .required("a list of level names, the top one first");
  private final Key<Tree, List<NodeSourceSpec>> sources =
      key(
          "node_sources",
          list(NODE_SOURCE.type(), NODE_SOURCE.usual())
              .inSchema(
                  "{'type': 'array', 'minItems': 1, 'items': {'$ref': '#/$defs/node_sources'}}"),
          Tree::sources,
          "Where nodes come from: the sources are asked in order; each may hang its nodes under"
              + " those of the ones before.");
  final Key<Tree, NodeOrder> order =
      key(
          "node_order",
          oneOf(List.of(NodeOrder.values()), NodeOrder::label),
          Tree::order,
          "How siblings are tried: `random`, `original` (as the source lists them),"
              + " `lexicographic`.");

  private NodeKeys() {
    super("nodes", "The node tree.", new Tree(Levels.of(List.of()), List.of(), NodeOrder.RANDOM));
    obsolete("node_source", "list the sources in \"node_sources\"");
    obsolete("node_source_prefs", "list the sources in \"node_sources\"");
  }

  /** True, false, or the mark of one quarantined answer. */
  private static ValueType<String> allowedChange() {
    return ValueType.of(
        value -> {
          if (value.json() instanceof Json.Str mark && MARK.matcher(mark.value()).matches()) {
            return mark.value();
          }
          Boolean all = value.bool();
          return all == null ? null : all ? NodeChangeGuard.ANY : "";
        },
        mark -> mark.isEmpty() ? Json.Bool.FALSE : Json.of(mark),
        "truth value or mark",
        ValueType.anyOf(bool().schema(), "{'type': 'string', 'pattern': '^[0-9a-f]{12}$'}"));
  }

  private static ValueType<Levels> levelNames() {
    return ValueType.of(
        NodeKeys::readLevels,
        levels -> Json.strings(levels.configured()),
        "list of names",
        "{'type': 'array', 'uniqueItems': true, 'items': {'allOf': ["
            + ValueType.name("").schema()
            + ", {'not': {'enum': ['instance', 'worker']}}]}}");
  }

  private static @Nullable Levels readLevels(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    Set<String> levels = new LinkedHashSet<>();
    boolean good = true;
    for (ConfigValue item : items) {
      String level = item.name("the name of a level");
      if (level == null) {
        good = false;
      } else if (level.equals(Levels.INSTANCE) || level.equals(Levels.WORKER)) {
        item.error("the level \"" + level + "\" is always there, it must not be listed", null);
        good = false;
      } else if (!levels.add(level)) {
        item.warning("the level is listed twice", "remove one");
      }
    }
    return good ? Levels.of(List.copyOf(levels)) : null;
  }

  /**
   * Reads the sources and their order.
   *
   * @param base the levels, which are read before
   */
  @Override
  public Tree read(ConfigObject in, Tree base) {
    ConfigValue listed = in.find(sources);
    List<NodeSourceSpec> all = in.get(sources, base);
    if (listed == null && !base.levels().configured().isEmpty()) {
      in.missing(Severity.WARNING, sources, "there are none: only the instance node will exist");
    } else if (listed != null && listed.json().equals(Json.Arr.EMPTY)) {
      listed.warning("there are no node sources: only the instance node will exist", null);
    }
    return new Tree(base.levels(), all, in.get(order, base));
  }
}
