package io.espalier.server.config;

import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.keys.OptionKeys;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Generates the JSON Schema of configurations from the definitions of the keys. */
final class ConfigSchema {
  private static final Names NO_NAMES = new Names(List.of(), List.of(), List.of());

  private ConfigSchema() {}

  static Json.Obj generated() {
    Json.Builder sections = Json.object();
    ConfigKeys.SECTIONS.forEach(section -> sections.put(section.name(), of(section)));
    return with(
        json(
            """
            {'$schema': 'https://json-schema.org/draft/2020-12/schema',
             'title': 'Espalier configuration',
             'description': 'bistro_settings and one bistro_job->NAME for each job. Keys that begin with _ or // are comments. Unknown keys, which this schema refuses, are warnings of the scheduler unless they look like a misspelt key.',
             'type': 'object', 'required': ['bistro_settings'],
             'properties': {'$schema': {'description': 'Where this schema is, for editors.'},
               'bistro_settings': {'$ref': '#/$defs/bistro_settings'}},
             'patternProperties': {
               '^bistro_job->[A-Za-z0-9_][A-Za-z0-9_.:-]{0,238}$': {'$ref': '#/$defs/bistro_job'},
               '^(_|//)': true},
             'additionalProperties': false}"""),
        "$defs",
        sections.build());
  }

  private static <R> Json.Obj of(Section<R> section) {
    Json.Builder properties = Json.object();
    List<Json> required = new ArrayList<>();
    for (Key<R, ?> key : section.keys()) {
      Json.Obj schema = with(json(key.type().schema()), "description", Json.of(description(key)));
      Json usual = usual(section, key);
      properties.put(key.name(), usual == null ? schema : with(schema, "default", usual));
      if (key.missing() != null) {
        required.add(Json.of(key.name()));
      }
    }
    List<Json> rules = new ArrayList<>();
    section
        .spellings()
        .forEach(
            (other, key) -> {
              Json.Obj said =
                  Json.object().put("description", "Another spelling of " + key).build();
              properties.put(other, deprecated(with(schema(section, key), said)));
              rules.add(json("{'not': {'required': ['%s', '%s']}}".formatted(other, key)));
            });
    section
        .obsolete()
        .forEach(
            (key, replacement) -> {
              Json.Obj said = Json.object().put("description", "Obsolete: " + replacement).build();
              properties.put(key, deprecated(with(elsewhere(key), said)));
            });
    Json.Obj schema =
        Json.object()
            .put("description", plain(section.description()))
            .put("type", "object")
            .put("properties", properties.build())
            .put("patternProperties", json("{'^(_|//)': true}"))
            .put("additionalProperties", false)
            .build();
    schema = required.isEmpty() ? schema : with(schema, "required", new Json.Arr(required));
    schema = rules.isEmpty() ? schema : with(schema, "allOf", new Json.Arr(rules));
    return with(schema, json(section.rules()));
  }

  private static <R> Json.Obj schema(Section<R> section, String name) {
    return json(
        section.keys().stream()
            .filter(key -> key.name().equals(name))
            .findFirst()
            .orElseThrow()
            .type()
            .schema());
  }

  /** The schema of an obsolete key that has moved to the tree, where it has an effect still. */
  private static Json.Obj elsewhere(String name) {
    Section<?> nodes =
        ConfigKeys.SECTIONS.stream()
            .filter(s -> s.name().equals("nodes"))
            .findFirst()
            .orElseThrow();
    return nodes.names().contains(name) ? schema(nodes, name) : Json.Obj.EMPTY;
  }

  private static Json.Obj deprecated(Json.Obj schema) {
    return with(schema, "deprecated", Json.Bool.TRUE);
  }

  /** What a key is when it is absent; null when that cannot be said in JSON, or is inherited. */
  static <R> @Nullable Json usual(Section<R> section, Key<R, ?> key) {
    boolean isObject = key.type().words().equals("object") && key.type().schema().contains("$ref");
    if (isInherited(section, key)
        || isObject
        || key.missing() != null
        || key.type().words().equals("level")
        || key.name().equals("burst")) {
      return null;
    }
    Json usual = key.write(section.usual(), NO_NAMES);
    return usual instanceof Json.Null ? null : usual;
  }

  /** Whether a job inherits the key from the settings. */
  static boolean isInherited(Section<?> section, Key<?, ?> key) {
    return section.name().equals("bistro_job")
        && OptionKeys.OPTIONS.names().contains(key.name())
        && !key.isOfJobsOnly();
  }

  private static String description(Key<?, ?> key) {
    return plain(key.description());
  }

  /** A text without Markdown. */
  private static String plain(String text) {
    return text.replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1").replace("`", "");
  }

  private static Json.Obj with(Json.Obj object, String key, Json value) {
    return with(object, Json.object().put(key, value).build());
  }

  private static Json.Obj with(Json.Obj object, Json.Obj more) {
    Json.Builder all = Json.object();
    object.members().forEach(all::put);
    for (Map.Entry<String, Json> member : more.members().entrySet()) {
      all.put(member.getKey(), member.getValue());
    }
    return all.build();
  }

  private static Json.Obj json(String text) {
    Json value = JsonReader.strict().read(text.replace('\'', '"')).value();
    return (Json.Obj) Objects.requireNonNull(value, text);
  }
}
