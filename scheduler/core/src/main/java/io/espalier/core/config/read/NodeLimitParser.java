package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeLimitRule.Kind;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses {@code node_resources_override}, and the rules of resources for usage over the limit. */
final class NodeLimitParser {
  private static final Map<String, Kind> KINDS = new LinkedHashMap<>();

  static {
    KINDS.put("name", Kind.NAME);
    KINDS.put("tag", Kind.TAG);
    KINDS.put("regex", Kind.REGEX);
    KINDS.put("attribute", Kind.ATTRIBUTE);
  }

  private static final String CHOOSE_HINT =
      "give one of " + String.join(", ", KINDS.keySet()) + " to say which nodes are meant";

  private final Levels levels;
  private final ResourceCatalog resources;

  private NodeLimitParser(Levels levels, ResourceCatalog resources) {
    this.levels = levels;
    this.resources = resources;
  }

  /** The valid entries, in order. */
  static List<NodeLimitRule> read(ConfigObject in, Levels levels, ResourceCatalog resources) {
    ConfigValue value = in.find("node_resources_override");
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return List.of();
    }
    NodeLimitParser parser = new NodeLimitParser(levels, resources);
    List<NodeLimitRule> all = new ArrayList<>();
    for (ConfigValue item : items) {
      ConfigObject entry = item.fields(ConfigSection.NODE_LIMIT);
      NodeLimitRule limit = entry == null ? null : parser.entry(item, entry);
      if (limit != null) {
        all.add(limit.at(item.path().toString()));
      }
    }
    return all;
  }

  private @Nullable NodeLimitRule entry(ConfigValue item, ConfigObject in) {
    int before = item.problems().errors();
    ConfigValue levelValue = in.require("level", "the level of the nodes that are meant");
    Integer level = levelValue == null ? null : levelValue.level(levels);
    Kind kind = kind(item, in);
    String key = key(kind);
    ConfigValue which = kind == null ? null : in.find(key);
    String pattern = which == null ? null : which.name("\"" + key + "\"");
    if (level == null || kind == null || which == null || pattern == null) {
      return null;
    }
    if (level == levels.worker() && kind != Kind.NAME && kind != Kind.REGEX) {
      which.error("workers have no " + key + "s", "choose workers by name or regex");
    }
    NodeLimitRule limit = entry(item, in, level, kind, pattern, which);
    return item.problems().errors() == before ? limit : null;
  }

  private NodeLimitRule entry(
      ConfigValue item, ConfigObject in, int level, Kind kind, String pattern, ConfigValue which) {
    ConfigValue value = in.find("value");
    ConfigValue resource = in.find("resource");
    if (kind != Kind.ATTRIBUTE) {
      refuse(value, "\"value\" belongs to \"attribute\"");
      refuse(resource, "\"resource\" belongs to \"attribute\", which holds its limit");
      Pattern regex = kind == Kind.REGEX ? FilterParser.compiled(which, pattern) : null;
      return new NodeLimitRule(level, kind, pattern, regex, null, limits(item, in, level), "");
    }
    if (value != null) {
      refuse(resource, "give either \"value\" with \"limits\", or \"resource\"");
      return NodeLimitRule.ofValue(level, pattern, text(value), limits(item, in, level));
    }
    refuse(in.find("limits"), "the attribute holds the limit: name the \"resource\"");
    String name = resource == null ? null : resource.text();
    if (resource == null) {
      item.error(
          "expected \"resource\", of which the attribute holds the limit",
          "or \"value\" and \"limits\"");
    }
    if (resource == null || name == null || !isOfLevel(resource, name, level)) {
      return NodeLimitRule.ofValue(level, pattern, "", Map.of());
    }
    return NodeLimitRule.ofAttribute(level, pattern, name);
  }

  private static String text(ConfigValue value) {
    Json json = value.json();
    if (json instanceof Json.Obj || json instanceof Json.Arr || json instanceof Json.Null) {
      value.error("expected a string, a number, true or false, found " + json.kind(), null);
    }
    return NodeLimitRule.text(json);
  }

  private static void refuse(@Nullable ConfigValue value, String why) {
    if (value != null) {
      value.error(why, "remove one of the two");
    }
  }

  private static @Nullable Kind kind(ConfigValue item, ConfigObject in) {
    Kind found = null;
    for (Map.Entry<String, Kind> entry : KINDS.entrySet()) {
      ConfigValue value = in.find(entry.getKey());
      if (value != null && found != null) {
        value.error("the nodes are chosen by \"" + key(found) + "\" already", CHOOSE_HINT);
        return null;
      }
      found = value == null ? found : entry.getValue();
    }
    if (found == null) {
      item.error("nothing says which nodes are meant", CHOOSE_HINT);
    }
    return found;
  }

  private static String key(@Nullable Kind kind) {
    for (Map.Entry<String, Kind> entry : KINDS.entrySet()) {
      if (entry.getValue() == kind) {
        return entry.getKey();
      }
    }
    return "";
  }

  private Map<String, Integer> limits(ConfigValue item, ConfigObject in, int level) {
    ConfigValue value = in.find("limits");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (value == null) {
      item.error("expected \"limits\", an object of resources", null);
    }
    if (members == null) {
      return Map.of();
    }
    Map<String, Integer> limits = new LinkedHashMap<>();
    members.forEach(
        (name, amount) -> {
          Integer slots = amount.int32(0);
          if (isOfLevel(amount, name, level) && slots != null) {
            limits.put(name, slots);
          }
        });
    return limits;
  }

  private boolean isOfLevel(ConfigValue value, String name, int level) {
    Resource resource = resources.find(name);
    List<String> known = resources.ofLevel(level).stream().map(Resource::name).toList();
    if (resource == null) {
      value.error("unknown resource \"" + name + "\"", Suggestions.hint(name, known));
      return false;
    }
    if (resource.level() != level) {
      value.error(
          "\""
              + name
              + "\" is a resource of the level \""
              + levels.name(resource.level())
              + "\", expected one of the level \""
              + levels.name(level)
              + "\"",
          known.isEmpty() ? null : Suggestions.hint(name, known));
      return false;
    }
    return true;
  }

  /** The values of {@code kill_over_limit_after_sec}, where given, by name of the resource. */
  static Map<String, Duration> killOverLimit(ConfigObject in) {
    Map<String, Duration> all = new HashMap<>();
    ConfigValue value = in.find("resources");
    if (value == null || !(value.json() instanceof Json.Obj)) {
      return all;
    }
    Map<String, ConfigValue> ofLevels = value.members();
    for (ConfigValue level : ofLevels == null ? List.<ConfigValue>of() : ofLevels.values()) {
      Map<String, ConfigValue> ofLevel = level.members();
      if (ofLevel != null) {
        ofLevel.forEach((name, resource) -> killOverLimit(name, resource, all));
      }
    }
    return all;
  }

  private static void killOverLimit(String name, ConfigValue resource, Map<String, Duration> all) {
    String key = "kill_over_limit_after_sec";
    Json json = resource.json() instanceof Json.Obj object ? object.get(key) : null;
    if (json != null) {
      ConfigValue value = new ConfigValue(json, resource.path().key(key), resource.problems());
      Double after = value.isFalse() ? null : value.number(0, ConfigValue.LONGEST_SECONDS);
      if (after != null) {
        all.put(name, ConfigValue.millis(after));
      }
    }
  }
}
