package io.espalier.server.config.yaml;

import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.keys.OptionKeys;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.UnknownKeys.Advice;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.json.JsonReader;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How YAML names the keys of a configuration. Everything comes from the definitions of the keys: a
 * key has the same name unless it ends with its unit, which YAML writes behind the value, or is
 * listed here. Immutable.
 */
final class Notation {
  private static final Map<String, String> RENAMED =
      Map.ofEntries(
          Map.entry("bistro_settings.nodes", "tree"),
          Map.entry("bistro_settings.resources", "limits"),
          Map.entry("bistro_settings.worker_resources_override", "worker_limits"),
          Map.entry("bistro_settings.node_resources_override", "node_limits"),
          Map.entry("nodes.node_sources", "sources"),
          Map.entry("nodes.node_order", "order"),
          Map.entry("queues.max_fraction", "max_share"),
          Map.entry("bistro_job.resources", "needs"),
          Map.entry("bistro_job.depends_on", "after"),
          Map.entry("bistro_job.run_only_after_all_nodes_are_done_for", "after_whole_jobs"),
          Map.entry("bistro_job.status_from", "status"),
          Map.entry("fail_job_when", "fail_when"),
          Map.entry("succeed_job_when", "succeed_when"),
          Map.entry("kill_subprocess", "kill"),
          Map.entry("task_subprocess", "process"),
          Map.entry("filters.whitelist", "only"),
          Map.entry("filters.whitelist_regex", "only_regex"),
          Map.entry("filters.tag_whitelist", "only_tags"),
          Map.entry("filters.blacklist", "except"),
          Map.entry("filters.blacklist_regex", "except_regex"),
          Map.entry("filters.fraction_of_nodes", "share"));

  /** Units of keys whose names do not end with them. */
  private static final Map<String, Unit> UNITS =
      Map.of(
          "working_wait", Unit.SECONDS,
          "backoff", Unit.SECONDS,
          "window", Unit.SECONDS,
          "fraction_of_nodes", Unit.FRACTION,
          "max_fraction", Unit.FRACTION);

  private static final Map<String, Unit> ENDINGS =
      Map.of(
          "_sec", Unit.SECONDS,
          "_ms", Unit.MILLIS,
          "_percent", Unit.PERCENT,
          "_pct", Unit.PERCENT);

  private static final Map<String, Part> PARTS =
      ConfigKeys.SECTIONS.stream().collect(Collectors.toUnmodifiableMap(Section::name, Part::new));

  static final Part SETTINGS = part("bistro_settings");
  static final Part JOB = part("bistro_job");

  /** The keys of the settings that jobs inherit, which YAML writes under {@code defaults}. */
  static final Set<String> INHERITED = OptionKeys.OPTIONS.names();

  private Notation() {}

  /** A key in both notations, or a part of its values. */
  static final class Name {
    private final String json;
    private final String yaml;
    private final Unit unit;
    private final @Nullable Name items;
    private final @Nullable Name members;
    private final String section;
    private final boolean isList;

    /**
     * @param schema what its values look like, as JSON Schema
     */
    Name(String json, String yaml, Unit unit, Json schema) {
      this.json = json;
      this.yaml = yaml;
      this.unit = unit;
      List<Json.Obj> all = alternatives(schema);
      items = part(all, "items");
      members = part(all, "additionalProperties");
      section =
          all.stream()
              .flatMap(each -> Stream.ofNullable(each.get("$ref")))
              .map(reference -> ((Json.Str) reference).value())
              .map(reference -> reference.substring(reference.lastIndexOf('/') + 1))
              .findFirst()
              .orElse("");
      isList =
          all.stream()
              .flatMap(each -> Stream.ofNullable(each.get("type")))
              .distinct()
              .toList()
              .equals(List.of(Json.of("array")));
    }

    private @Nullable Name part(List<Json.Obj> schemas, String word) {
      return schemas.stream()
          .map(each -> each.get(word))
          .filter(Json.Obj.class::isInstance)
          .findFirst()
          .map(found -> new Name(json, yaml, unit, found))
          .orElse(null);
    }

    String json() {
      return json;
    }

    String yaml() {
      return yaml;
    }

    Unit unit() {
      return unit;
    }

    /** The type of each item of a list, or null when there is none. */
    @Nullable Name items() {
      return items;
    }

    /** The type of each member of an object that is keyed by names, or null. */
    @Nullable Name members() {
      return members;
    }

    /** The keys of an object, or null when it has no fixed ones. */
    @Nullable Part part() {
      return PARTS.get(section);
    }

    /** Whether a value must be a list, so that a single text can stand for a list of one. */
    boolean isList() {
      return isList;
    }

    /** A schema with all that it is put together from. */
    private static List<Json.Obj> alternatives(Json schema) {
      if (!(schema instanceof Json.Obj object)) {
        return List.of();
      }
      Stream<Json.Obj> parts =
          Stream.of("anyOf", "allOf")
              .flatMap(word -> Stream.ofNullable(object.get(word)))
              .flatMap(list -> ((Json.Arr) list).items().stream())
              .flatMap(part -> alternatives(part).stream());
      return Stream.concat(Stream.of(object), parts).toList();
    }
  }

  /** The keys of one section in both notations. */
  static final class Part {
    private final Section<?> section;
    private final Map<String, Name> byJson = new LinkedHashMap<>();
    private final Map<String, Name> byYaml = new LinkedHashMap<>();

    private Part(Section<?> section) {
      this.section = section;
      for (Key<?, ?> key : section.keys()) {
        Json schema =
            Objects.requireNonNull(
                JsonReader.parse(key.type().schema().replace('\'', '"')).value(), key.name());
        String json = key.name();
        Name name = new Name(json, yamlName(section.name(), json), unit(json), schema);
        byJson.put(json, name);
        byYaml.put(name.yaml(), name);
      }
    }

    boolean is(String sectionName) {
      return section.name().equals(sectionName);
    }

    /** Whether YAML may write {@code source} and {@code prefs} as {@code KIND: {...}}. */
    boolean hasSource() {
      return byJson.containsKey("source") && byJson.containsKey("prefs");
    }

    Collection<Name> names() {
      return byJson.values();
    }

    Set<String> yamlNames() {
      return byYaml.keySet();
    }

    @Nullable Name ofYaml(String key) {
      return byYaml.get(key);
    }

    /** The key of Bistro's notation, which may be another spelling of it. */
    @Nullable Name ofJson(String key) {
      return byJson.get(section.spellings().getOrDefault(key, key));
    }

    /** What is said of a key of the other notation. */
    @Nullable Advice advice(String key) {
      Name name = ofJson(key);
      return name == null ? null : misplaced("did you mean \"" + name.yaml() + "\"?");
    }
  }

  static Advice misplaced(String hint) {
    return new Advice(Severity.ERROR, "unknown key", hint);
  }

  static Part part(String section) {
    return Objects.requireNonNull(PARTS.get(section), section);
  }

  private static String yamlName(String section, String key) {
    String renamed = RENAMED.getOrDefault(section + "." + key, RENAMED.get(key));
    if (renamed != null) {
      return renamed;
    }
    String ending = ending(key);
    return key.substring(0, key.length() - ending.length());
  }

  private static Unit unit(String key) {
    return UNITS.getOrDefault(key, ENDINGS.getOrDefault(ending(key), Unit.NONE));
  }

  private static String ending(String key) {
    return ENDINGS.keySet().stream().filter(key::endsWith).findFirst().orElse("");
  }
}
