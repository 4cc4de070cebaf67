package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses {@code resources} and {@code worker_resources_override} of the settings. */
final class ResourcesParser {
  /** A resource before its index is assigned. */
  private record Declared(String name, int level, int need, int limit, int weight) {}

  private final Levels levels;
  private final List<Declared> declared = new ArrayList<>();
  private final Map<String, String> levelOf = new HashMap<>();
  private boolean good = true;

  private ResourcesParser(Levels levels) {
    this.levels = levels;
  }

  /** Returns null when they are missing or broken. */
  static @Nullable ResourceCatalog read(ConfigObject in, Levels levels) {
    ConfigValue value =
        in.require("resources", "an object of levels, {} if there are no resources");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return null;
    }
    ResourcesParser parser = new ResourcesParser(levels);
    members.forEach(parser::readLevel);
    return parser.good ? parser.catalog() : null;
  }

  private ResourceCatalog catalog() {
    List<Resource> all = new ArrayList<>();
    declared.stream()
        .sorted(Comparator.comparingInt(Declared::level))
        .forEach(
            r -> all.add(new Resource(all.size(), r.name, r.level, r.need, r.limit, r.weight)));
    return new ResourceCatalog(all);
  }

  private void readLevel(String levelName, ConfigValue value) {
    int level = levels.find(levelName);
    if (level < 0) {
      ConfigValue.unknownLevel(value, levelName, levels);
      good = false;
      return;
    }
    Map<String, ConfigValue> resources = value.members();
    if (resources == null) {
      good = false;
      return;
    }
    resources.forEach((name, resource) -> readResource(name, level, resource));
  }

  private void readResource(String name, int level, ConfigValue value) {
    ConfigObject in = value.fields(ConfigSection.RESOURCE);
    if (in == null) {
      good = false;
      return;
    }
    if (name.isEmpty() || SubprocessParser.hasControls(name)) {
      value.error("the name of a resource must not be empty or hold control characters", null);
      good = false;
    }
    String otherLevel = levelOf.putIfAbsent(name, levels.name(level));
    if (otherLevel != null) {
      value.error(
          "a resource of this name is also on the level \"" + otherLevel + "\"",
          "resource names must be unique over all levels");
      good = false;
      return;
    }
    Integer need = required(in, "default", "the slots that a job takes when it does not say");
    Integer limit = required(in, "limit", "the slots on each node of the level");
    int weight = in.int32("weight", 0, 0);
    if (need == null || limit == null) {
      good = false;
      return;
    }
    declared.add(new Declared(name, level, need, limit, weight));
  }

  private static @Nullable Integer required(ConfigObject in, String key, String meaning) {
    ConfigValue value = in.require(key, meaning);
    return value == null ? null : value.int32(0);
  }

  static Map<String, Map<String, Integer>> readOverrides(
      ConfigObject in, Levels levels, ResourceCatalog catalog) {
    ConfigValue value = in.find("worker_resources_override");
    Map<String, ConfigValue> workers = value == null ? null : value.members();
    if (workers == null) {
      return Map.of();
    }
    Map<String, Map<String, Integer>> overrides = new LinkedHashMap<>();
    workers.forEach(
        (worker, entry) -> {
          Map<String, ConfigValue> resources = entry.members();
          if (resources == null) {
            return;
          }
          Map<String, Integer> amounts = new LinkedHashMap<>();
          resources.forEach(
              (name, amount) -> {
                Integer slots = amount.int32(0);
                if (isOfWorkers(amount, name, levels, catalog) && slots != null) {
                  amounts.put(name, slots);
                }
              });
          overrides.put(worker, Map.copyOf(amounts));
        });
    return overrides;
  }

  /** Returns true when workers have the resource; otherwise adds an error at {@code value}. */
  static boolean isOfWorkers(
      ConfigValue value, String name, Levels levels, ResourceCatalog catalog) {
    Resource resource = catalog.find(name);
    List<String> known = catalog.ofLevel(levels.worker()).stream().map(Resource::name).toList();
    if (resource == null) {
      value.error("unknown resource \"" + name + "\"", Suggestions.hint(name, known));
      return false;
    }
    if (resource.level() != levels.worker()) {
      value.error(
          "\""
              + name
              + "\" is a resource of the level \""
              + levels.name(resource.level())
              + "\", expected one of the level \"worker\"",
          known.isEmpty() ? null : Suggestions.hint(name, known));
      return false;
    }
    return true;
  }
}
