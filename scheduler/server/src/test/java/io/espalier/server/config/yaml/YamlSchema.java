package io.espalier.server.config.yaml;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problems;
import io.espalier.json.JsonReader;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Notation.Part;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Generates the JSON Schema of configurations in YAML from that of Bistro's notation. Like the
 * translation, it knows names, units and short forms, and no meanings.
 */
public final class YamlSchema {
  private static final String SETTINGS = "bistro_settings";
  private static final String JOB = "bistro_job";
  private static final String COMMENT = "^(_|//)";
  private static final Json.Obj COMMENTS = json("{'%s': true}".formatted(COMMENT));
  private static final Json.Obj VARIABLE = json("{'$ref': '#/$defs/variable'}");
  private static final Json.Obj TRUTH_VALUE =
      json("{'enum': [true, false, 1, 0, 'true', 'false', '1', '0']}");

  /** Editors propose only the first two; all are accepted. */
  private static final List<Json.Obj> TRUTH_VALUES =
      List.of(
          json("{'type': 'boolean'}"),
          json(
              "{'type': ['integer', 'string'], 'minimum': 0, 'maximum': 1,"
                  + " 'pattern': '^(true|false|0|1)$'}"));

  private final Map<String, Json.Obj> bistro = new LinkedHashMap<>();
  private final Set<String> inParts;
  private final Map<String, String> renamed;

  private YamlSchema(Json.Obj schema) {
    object(schema, "$defs").members().forEach((name, each) -> bistro.put(name, (Json.Obj) each));
    inParts = inParts();
    renamed = renamed();
  }

  /** Reads a text in YAML as values, as they stand there; it must be YAML without problems. */
  public static Json read(String yaml) {
    Problems problems = new Problems();
    Json read =
        YamlReader.read(new Document("a.yaml", yaml.getBytes(StandardCharsets.UTF_8)), problems);
    if (read == null || problems.count() > 0) {
      throw new IllegalArgumentException(problems.sorted().toString());
    }
    return read;
  }

  /**
   * Returns the schema of configurations in YAML.
   *
   * @param schema that of Bistro's notation
   */
  public static Json.Obj of(Json.Obj schema) {
    return new YamlSchema(schema).whole();
  }

  private Json.Obj whole() {
    Json.Builder properties = Json.object();
    json("""
            {'espalier': {'description': 'The version of the notation; required in each file.', 'const': 'v1'},
             'include': {'description': 'Further YAML files, relative to this one.',
               'anyOf': [{'type': 'string'}, {'type': 'array', 'items': {'type': 'string'}}]},
             'variables': {'description': '{NAME: value}, for ${NAME} in values.', 'type': 'object',
               'additionalProperties': {'type': ['string', 'number', 'boolean', 'null']}}}""")
        .members()
        .forEach(properties::put);
    properties(SETTINGS, name -> !Notation.INHERITED.contains(name.json()))
        .members()
        .forEach(properties::put);
    properties.put(
        "defaults",
        closed(
            "The keys of the settings that jobs inherit.",
            properties(SETTINGS, name -> Notation.INHERITED.contains(name.json()))));
    json("""
            {'templates': {'description': '{NAME: {...}}: keys of jobs, for extends.', 'type': 'object',
               'additionalProperties': {'$ref': '#/$defs/bistro_job'}},
             'jobs': {'description': '{NAME: {...}}: what is to be done on the nodes.', 'type': 'object',
               'propertyNames': {'pattern': '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,238}$'},
               'additionalProperties': {'$ref': '#/$defs/bistro_job'}}}""")
        .members()
        .forEach(properties::put);
    Json.Builder defs =
        Json.object()
            .put(
                "variable",
                json(
                    "{'description': 'Text with ${NAME}, ${env:NAME} or ${file:PATH}.',"
                        + " 'type': 'string', 'pattern': '\\\\$\\\\{'}"))
            .put("preferences", preferences());
    bistro.keySet().stream()
        .filter(name -> !name.equals(SETTINGS))
        .forEach(name -> defs.put(name, section(name)));
    return json("""
            {'$schema': 'https://json-schema.org/draft/2020-12/schema',
             'title': 'Espalier configuration in YAML',
             'description': 'One YAML file of a configuration. Keys that begin with _ or // are comments. Whether a job has all keys that it needs is for espalier validate to say: they may come from templates.',
             'type': 'object', 'required': ['espalier']}""")
        .with("properties", properties.build())
        .with("patternProperties", COMMENTS)
        .with("additionalProperties", Json.Bool.FALSE)
        .with("$defs", defs.build());
  }

  /** The keys of a section that are chosen, with what their values may be. */
  private Json.Obj properties(String section, Predicate<Name> chosen) {
    Json.Obj given = object(schema(section), "properties");
    Json.Builder out = Json.object();
    for (Name name : Notation.part(section).names()) {
      if (chosen.test(name)) {
        out.put(name.yaml(), property(object(given, name.json()), name));
      }
    }
    return out.build();
  }

  private Json.Obj property(Json.Obj given, Name name) {
    Json.Obj out = value(given.without("description").without("default"), name);
    Json usual = given.get("default");
    String description =
        inYaml(text(given))
            + switch (name.unit()) {
              case NONE -> "";
              case SECONDS, MILLIS -> " A number and its unit, such as 500ms, 90s, 15m, 2h or 1d.";
              case PERCENT, FRACTION -> " A number and a per cent sign, such as 10%.";
            };
    out = out.with("description", Json.of(description));
    return usual == null ? out : out.with("default", written(usual, name.unit()));
  }

  private static Json written(Json usual, Unit unit) {
    return usual instanceof Json.Arr list
        ? new Json.Arr(list.items().stream().map(unit::write).toList())
        : unit.write(usual);
  }

  /** What a key or a part of it may be, where YAML may have a variable in place of a scalar. */
  private static Json.Obj value(Json.Obj given, Name name) {
    List<Json.Obj> forms = new ArrayList<>(forms(given, name).distinct().toList());
    if (forms.stream().anyMatch(YamlSchema::isScalar)
        && forms.stream().noneMatch(YamlSchema::isAnyText)) {
      forms.add(VARIABLE);
    }
    return forms.size() == 1 ? forms.get(0) : anyOf(forms);
  }

  private static Stream<Json.Obj> forms(Json.Obj given, Name name) {
    if (given.get("anyOf") instanceof Json.Arr all && given.members().size() == 1) {
      return all.items().stream().flatMap(each -> forms((Json.Obj) each, name));
    }
    if (given.get("$ref") != null) {
      return Stream.of(given);
    }
    if (hasType(given, "array")) {
      return Stream.concat(Stream.of(list(given, name)), single(given, name));
    }
    return hasType(given, "object") && !hasType(given, "string")
        ? Stream.of(members(given, name))
        : scalar(given, name.unit());
  }

  private static Json.Obj list(Json.Obj given, Name name) {
    Name of = name.items();
    return of == null ? given : mapped(given, "items", items -> value((Json.Obj) items, of));
  }

  /** The single item that can stand for a list of one. */
  private static Stream<Json.Obj> single(Json.Obj given, Name name) {
    Json.Obj items = items(given);
    Name of = name.items();
    if (!name.isList() || items == null || of == null) {
      return Stream.empty();
    }
    if (name.json().equals("command")) {
      return Stream.of(
          json("{'type': 'string'}")
              .with("pattern", Json.of("\\S"))
              .with("not", Json.object().put("pattern", Translator.SHELL.pattern()).build()));
    }
    return forms(items, of).filter(YamlSchema::isScalar);
  }

  private static Json.@Nullable Obj items(Json.Obj list) {
    if (list.get("items") instanceof Json.Obj items) {
      return items;
    }
    return list.get("allOf") instanceof Json.Arr all ? items((Json.Obj) all.items().get(0)) : null;
  }

  private static Json.Obj members(Json.Obj given, Name name) {
    Name of = name.members();
    Json.Obj out =
        of == null
            ? given
            : mapped(given, "additionalProperties", each -> value((Json.Obj) each, of));
    if (!(out.get("patternProperties") instanceof Json.Obj patterns)) {
      return out;
    }
    Json.Builder each = Json.object();
    patterns
        .members()
        .forEach(
            (key, schema) ->
                each.put(key, schema instanceof Json.Obj object ? value(object, name) : schema));
    return out.with("patternProperties", each.build());
  }

  private static Stream<Json.Obj> scalar(Json.Obj given, Unit unit) {
    if (given.equals(TRUTH_VALUE)) {
      return TRUTH_VALUES.stream();
    }
    if (unit == Unit.NONE || given.get("type") == null) {
      return Stream.of(given);
    }
    // The unit stands behind the number, so texts are what the number is written as.
    if (!hasType(given, "number") && !hasType(given, "integer")) {
      return Stream.empty();
    }
    boolean isPositive = least(given, "minimum") > 0 || least(given, "exclusiveMinimum") >= 0;
    boolean hasSign = !isPositive && least(given, "minimum") < 0;
    boolean isTime = unit == Unit.SECONDS || unit == Unit.MILLIS;
    String number = (isTime ? Unit.TIME : Unit.SHARE).pattern();
    String pattern = "^" + number.replace("[+-]?", hasSign ? "[+-]?" : "[+]?") + "$";
    List<Json.Obj> forms = new ArrayList<>();
    forms.add(json("{'type': 'string'}").with("pattern", Json.of(pattern)));
    if (!isPositive) {
      forms.add(json("{'const': 0}"));
    }
    if (hasType(given, "boolean")) {
      forms.add(TRUTH_VALUES.get(0));
    }
    return forms.stream();
  }

  private static double least(Json.Obj given, String word) {
    return given.get(word) instanceof Json.Num number
        ? number.value().doubleValue()
        : Double.NEGATIVE_INFINITY;
  }

  private static boolean isScalar(Json.Obj form) {
    return form.get("$ref") == null && !hasType(form, "array") && !hasType(form, "object");
  }

  private static boolean isAnyText(Json.Obj form) {
    return hasType(form, "string") && form.get("pattern") == null && form.get("minLength") == null;
  }

  private static boolean hasType(Json.Obj schema, String type) {
    Json types = schema.get("type");
    return types instanceof Json.Arr several
        ? several.items().contains(Json.of(type))
        : Json.of(type).equals(types);
  }

  private Json.Obj section(String name) {
    Part part = Notation.part(name);
    Json.Obj given = schema(name);
    Json.Obj properties = properties(name, each -> true);
    if (name.equals(JOB)) {
      properties =
          with(
              json(
                  """
                  {'extends': {'description': 'A template or a list of them, whose keys the job takes over; its own win, then those of later templates.',
                    'anyOf': [{'type': 'string'}, {'type': 'array', 'items': {'type': 'string'}}]}}"""),
              properties);
    }
    Json.Obj out = closed(inYaml(text(given)), properties);
    if (!inParts.contains(name)) {
      for (String word :
          List.of(
              "description", "type", "properties", "patternProperties", "additionalProperties")) {
        given = given.without(word);
      }
      out = with(out, (Json.Obj) rules(given, part));
    }
    return part.hasSource() ? source(out, part) : name.equals("resources") ? limit(out) : out;
  }

  /** A source, whose kind can be a key. */
  private static Json.Obj source(Json.Obj section, Part part) {
    Json.Builder properties = Json.object();
    object(section, "properties").members().forEach(properties::put);
    List<String> kinds = new ArrayList<>(ConfigFixtures.NODE_SOURCES);
    if (!part.is("node_sources")) {
      kinds.add(ProbeSpec.PUSH);
    }
    kinds.stream()
        .filter(kind -> part.ofYaml(kind) == null)
        .forEach(kind -> properties.put(kind, json("{'$ref': '#/$defs/preferences'}")));
    Json.Obj keys =
        Json.object()
            .put(
                "propertyNames",
                Json.object()
                    .put("pattern", "^(" + String.join("|", part.yamlNames()) + ")$|" + COMMENT)
                    .build())
            .build();
    List<Json> required =
        ((Json.Arr) Objects.requireNonNull(section.get("required")))
            .items().stream().filter(key -> !key.equals(Json.of("source"))).toList();
    Json.Obj out =
        required.isEmpty()
            ? section.without("required")
            : section.with("required", new Json.Arr(required));
    return out.with("properties", properties.build())
        .with("additionalProperties", json("{'$ref': '#/$defs/preferences'}"))
        .with("if", json("{'required': ['source']}"))
        .with("then", keys)
        .with("else", Json.object().put("not", keys).build());
  }

  /** What sources take beside a kind: they define it themselves, but for what most share. */
  private static Json.Obj preferences() {
    Json.Builder properties = Json.object();
    new TreeMap<>(Preferences.TO_YAML)
        .forEach(
            (json, yaml) -> {
              Unit unit = Preferences.timeOf(json);
              Json.Obj given =
                  json(
                      unit == Unit.NONE
                          ? "{'type': ['string', 'number']}"
                          : "{'type': 'number', 'minimum': 0}");
              properties
                  .put(yaml, value(given, new Name(json, yaml, unit, given)))
                  .put(json, Json.Bool.FALSE);
            });
    return json("{'description': 'What this kind of source takes: see prefs in the reference.',"
            + " 'type': ['object', 'null']}")
        .with("properties", properties.build());
  }

  /** A limit alone, or with more. */
  private static Json.Obj limit(Json.Obj section) {
    Json.Obj properties = object(section, "properties");
    Json.Obj usual = object(properties, "default").with("default", Json.of(1));
    List<Json.Obj> forms =
        Stream.concat(
                ((Json.Arr) Objects.requireNonNull(object(properties, "limit").get("anyOf")))
                    .items().stream().map(Json.Obj.class::cast),
                Stream.of(
                    section
                        .with("properties", properties.with("default", usual))
                        .with("required", Json.strings(List.of("limit")))))
            .toList();
    return anyOf(forms);
  }

  /** The rules of a section, in the names of YAML. */
  private static Json rules(Json rule, Part part) {
    if (rule instanceof Json.Arr list) {
      return new Json.Arr(list.items().stream().map(each -> rules(each, part)).toList());
    }
    if (!(rule instanceof Json.Obj object)) {
      return rule;
    }
    Json.Builder out = Json.object();
    object
        .members()
        .forEach(
            (word, value) -> {
              if (word.equals("required")) {
                out.put(word, named(value, part));
              } else if (word.equals("dependentRequired")) {
                Json.Builder all = Json.object();
                ((Json.Obj) value)
                    .members()
                    .forEach((key, others) -> all.put(named(key, part), named(others, part)));
                out.put(word, all.build());
              } else {
                out.put(word, rules(value, part));
              }
            });
    return out.build();
  }

  private static Json named(Json keys, Part part) {
    return new Json.Arr(
        ((Json.Arr) keys)
            .items().stream()
                .<Json>map(key -> Json.of(named(((Json.Str) key).value(), part)))
                .toList());
  }

  private static String named(String key, Part part) {
    return Objects.requireNonNull(part.ofJson(key), key).yaml();
  }

  /**
   * The sections of which templates may give one part and jobs another, so that nothing in them is
   * required. Items of lists are not among them, since lists are replaced as a whole.
   */
  private Set<String> inParts() {
    Set<String> found = new LinkedHashSet<>(Set.of(JOB));
    Deque<String> open = new ArrayDeque<>(found);
    while (!open.isEmpty()) {
      references(object(schema(open.remove()), "properties")).filter(found::add).forEach(open::add);
    }
    return found;
  }

  private static Stream<String> references(Json schema) {
    if (schema instanceof Json.Arr list) {
      return list.items().stream().flatMap(YamlSchema::references);
    }
    if (!(schema instanceof Json.Obj object)) {
      return Stream.empty();
    }
    return object.members().entrySet().stream()
        .filter(member -> !member.getKey().equals("items"))
        .flatMap(
            member ->
                member.getKey().equals("$ref") && member.getValue() instanceof Json.Str reference
                    ? Stream.of(reference.value().substring("#/$defs/".length()))
                    : references(member.getValue()));
  }

  /** The keys with a name of more than one word whose name in YAML is another one everywhere. */
  private Map<String, String> renamed() {
    Map<String, Set<String>> all = new TreeMap<>();
    for (String section : bistro.keySet()) {
      for (Name name : Notation.part(section).names()) {
        all.computeIfAbsent(name.json(), key -> new TreeSet<>()).add(name.yaml());
      }
    }
    return all.entrySet().stream()
        .filter(each -> each.getKey().contains("_") && each.getValue().size() == 1)
        .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().iterator().next()));
  }

  /** A description with the names of keys as YAML has them. */
  private String inYaml(String text) {
    return Pattern.compile("\\w+")
        .matcher(text)
        .replaceAll(word -> renamed.getOrDefault(word.group(), word.group()));
  }

  private Json.Obj schema(String section) {
    return Objects.requireNonNull(bistro.get(section), section);
  }

  private static Json.Obj closed(String description, Json.Obj properties) {
    return json("{'type': 'object'}")
        .with("description", Json.of(description))
        .with("properties", properties)
        .with("patternProperties", COMMENTS)
        .with("additionalProperties", Json.Bool.FALSE);
  }

  private static String text(Json.Obj schema) {
    return ((Json.Str) Objects.requireNonNull(schema.get("description"))).value();
  }

  private static Json.Obj anyOf(List<Json.Obj> forms) {
    return Json.object().put("anyOf", new Json.Arr(List.copyOf(forms))).build();
  }

  /** A schema with something else for a word, also where it stands in {@code allOf}. */
  private static Json.Obj mapped(Json.Obj schema, String word, UnaryOperator<Json> to) {
    Json.Builder out = Json.object();
    schema
        .members()
        .forEach(
            (key, member) ->
                out.put(
                    key,
                    key.equals(word) && member instanceof Json.Obj
                        ? to.apply(member)
                        : key.equals("allOf")
                            ? new Json.Arr(
                                ((Json.Arr) member)
                                    .items().stream()
                                        .<Json>map(each -> mapped((Json.Obj) each, word, to))
                                        .toList())
                            : member));
    return out.build();
  }

  private static Json.Obj with(Json.Obj object, Json.Obj more) {
    Json.Obj out = object;
    for (Map.Entry<String, Json> member : more.members().entrySet()) {
      out = out.with(member.getKey(), member.getValue());
    }
    return out;
  }

  private static Json.Obj object(Json.Obj in, String key) {
    return (Json.Obj) Objects.requireNonNull(in.get(key), key);
  }

  private static Json.Obj json(String text) {
    Json value = JsonReader.strict().read(text.replace('\'', '"')).value();
    return (Json.Obj) Objects.requireNonNull(value, text);
  }
}
