package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeLimitRule.Kind;
import io.espalier.core.config.Resource;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of an entry of {@code node_resources_override}. */
final class NodeLimitKeys extends Section<NodeLimitRule> {
  static final NodeLimitKeys NODE_LIMIT = new NodeLimitKeys();

  private final Key<NodeLimitRule, Integer> level =
      key(
              "level",
              ValueType.level(),
              NodeLimitRule::level,
              "The level of the nodes that are meant; `worker` for workers, which are chosen by"
                  + " `name` or `regex`, after `worker_resources_override`.")
          .own()
          .required("the level of the nodes that are meant");
  private final Key<NodeLimitRule, Optional<String>> name =
      choice("name", "name", "The node of this name; of workers `host:port`, a host or a shard.");
  private final Key<NodeLimitRule, Optional<String>> tag =
      choice("tag", "text", "All nodes that have this tag.");
  private final Key<NodeLimitRule, Optional<String>> regex =
      choice(
          "regex",
          "regular expression",
          "All nodes in whose name it is found; `^` and `$` tie it down. Of workers: in the host or"
              + " the shard.");
  private final Key<NodeLimitRule, Optional<String>> attribute =
      choice("attribute", "name", "All nodes to which the node source gives this attribute.");
  private final Key<NodeLimitRule, Optional<String>> value =
      absent(
          "value",
          attributeValue(),
          "With `attribute`: only nodes whose attribute has this value. A string and a number that"
              + " look the same are equal.");
  private final Key<NodeLimitRule, Optional<String>> resource =
      absent(
          "resource",
          text().says("name"),
          "With `attribute`, without `value`: the attribute is the limit of this resource. A value"
              + " that is no whole number from 0 to 2147483647 is reported, and the node keeps the"
              + " limit that it has without it.");
  private final Key<NodeLimitRule, Map<String, Integer>> limits =
      key(
              "limits",
              ValueType.byResource(ValueType.int32(0), 0, false)
                  .<Map<String, Integer>>as(byResource -> Map.of(), byName -> Map.of()),
              NodeLimitRule::limits,
              "`{RESOURCE: slots}`, of resources of the level.")
          .own();
  private final Map<Kind, Key<NodeLimitRule, Optional<String>>> choices = new LinkedHashMap<>();
  private final String hint =
      "give one of name, tag, regex, attribute to say which nodes are meant";

  private NodeLimitKeys() {
    super(
        "node_resources_override",
        "Limits of some nodes of a level, or of some workers.",
        NodeLimitRule.ofName(0, "", Map.of()));
    choices.put(Kind.NAME, name);
    choices.put(Kind.TAG, tag);
    choices.put(Kind.REGEX, regex);
    choices.put(Kind.ATTRIBUTE, attribute);
    rules(
        """
        {'oneOf': [
           {'required': ['name', 'limits']}, {'required': ['tag', 'limits']},
           {'required': ['regex', 'limits']}, {'required': ['attribute', 'value', 'limits']},
           {'required': ['attribute', 'resource'], 'not': {'required': ['limits']}}],
         'allOf': [{'oneOf': [{'required': ['name']}, {'required': ['tag']},
           {'required': ['regex']}, {'required': ['attribute']}]}],
         'dependentRequired': {'value': ['attribute', 'limits'], 'resource': ['attribute']}}""");
  }

  private Key<NodeLimitRule, Optional<String>> choice(
      String key, String words, String description) {
    ValueType<String> type =
        ValueType.name("\"" + key + "\"").says(words).inSchema(text().schema());
    return absent(key, type, description);
  }

  private Key<NodeLimitRule, Optional<String>> absent(
      String key, ValueType<String> type, String description) {
    Function<NodeLimitRule, Optional<String>> none = rule -> Optional.empty();
    return key(key, ValueType.optional(type, ""), none, description).own();
  }

  private static ValueType<String> attributeValue() {
    return ValueType.of(
        value -> {
          Json json = value.json();
          if (json instanceof Json.Obj || json instanceof Json.Arr || json instanceof Json.Null) {
            value.wrongKind("a string, a number, true or false");
          }
          return NodeLimitRule.text(json);
        },
        Json::of,
        "text, number or truth value",
        "{'type': ['string', 'number', 'boolean']}");
  }

  @Override
  public @Nullable NodeLimitRule read(ConfigObject in, NodeLimitRule base) {
    int before = in.value().problems().errors();
    Integer of = in.read(level, base);
    Kind kind = kind(in);
    Key<NodeLimitRule, Optional<String>> key = kind == null ? null : choices.get(kind);
    ConfigValue which = key == null ? null : in.find(key);
    String pattern = key == null ? null : in.get(key, usual()).orElse(null);
    if (of == null || kind == null || key == null || which == null || pattern == null) {
      if (in.has(limits)) {
        limits(in, of == null ? ConfigValue.ANY : of);
      }
      return null;
    }
    if (of == in.value().names().levels().worker() && kind != Kind.NAME && kind != Kind.REGEX) {
      which.error("workers have no " + key.name() + "s", "choose workers by name or regex");
    }
    NodeLimitRule rule =
        kind == Kind.ATTRIBUTE
            ? ofAttribute(in, of, pattern)
            : ofNodes(in, of, kind, pattern, which);
    return in.value().problems().errors() == before ? rule.at(in.value().path().toString()) : null;
  }

  private @Nullable Kind kind(ConfigObject in) {
    Kind found = null;
    for (Map.Entry<Kind, Key<NodeLimitRule, Optional<String>>> choice : choices.entrySet()) {
      ConfigValue given = in.find(choice.getValue());
      if (given != null && found != null) {
        given.error("the nodes are chosen by \"" + nameOf(found) + "\" already", hint);
        return null;
      }
      found = given == null ? found : choice.getKey();
    }
    if (found == null) {
      in.value().error("nothing says which nodes are meant", hint);
    }
    return found;
  }

  private String nameOf(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private NodeLimitRule ofNodes(
      ConfigObject in, int of, Kind kind, String pattern, ConfigValue which) {
    refuse(in, value, "\"value\" belongs to \"attribute\"");
    refuse(in, resource, "\"resource\" belongs to \"attribute\", which has its limit");
    Pattern found =
        kind == Kind.REGEX ? ValueType.regex().reader().read(which, Pattern.compile("")) : null;
    return new NodeLimitRule(of, kind, pattern, found, null, limits(in, of), "");
  }

  private NodeLimitRule ofAttribute(ConfigObject in, int of, String name) {
    String wanted = in.get(value, usual()).orElse(null);
    if (wanted != null) {
      refuse(in, resource, "give either \"value\" with \"limits\", or \"resource\"");
      return NodeLimitRule.ofValue(of, name, wanted, limits(in, of));
    }
    refuse(in, limits, "the limit is in the attribute: name the \"resource\"");
    ConfigValue given = in.find(resource);
    if (given == null) {
      in.value()
          .error(
              "expected \"resource\", whose limit is in the attribute",
              "or \"value\" and \"limits\"");
    }
    String limited = in.get(resource, usual()).orElse(null);
    boolean good = given != null && limited != null && given.resource(limited, of) != null;
    return NodeLimitRule.ofAttribute(of, name, good && limited != null ? limited : "");
  }

  private static void refuse(ConfigObject in, Key<NodeLimitRule, ?> key, String why) {
    ConfigValue given = in.find(key);
    if (given != null) {
      given.error(why, "remove one of the two");
    }
  }

  private Map<String, Integer> limits(ConfigObject in, int of) {
    ConfigValue given = in.find(limits);
    if (given == null) {
      in.value().error("expected \"limits\", an object of resources", null);
      return Map.of();
    }
    Map<Resource, Integer> slots = given.byResource(ValueType.int32(0), 0, of);
    Map<String, Integer> byName = new LinkedHashMap<>();
    if (slots != null) {
      slots.forEach((limited, most) -> byName.put(limited.name(), most));
    }
    return byName;
  }

  /** The type of the list of entries: the valid ones, in order. */
  ValueType<List<NodeLimitRule>> entries() {
    return ValueType.list(type(), usual());
  }
}
