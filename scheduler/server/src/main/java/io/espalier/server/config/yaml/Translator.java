package io.espalier.server.config.yaml;

import io.espalier.core.config.schema.UnknownKeys;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Notation.Part;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Translates objects of the configuration to Bistro's notation: their keys, units and short forms.
 * It does not know what the values mean; each keeps its position.
 */
final class Translator {
  private static final Pattern BLANKS = Pattern.compile("\\s+");
  static final Pattern SHELL = Pattern.compile("[\"'\\\\`$|&;<>*?]");

  private final Problems problems;

  Translator(Problems problems) {
    this.problems = problems;
  }

  /** Translates an object that has the keys of a section. */
  Json.Obj object(Json.Obj in, Part part, ProblemPath path) {
    UnknownKeys.report(in, path, problems, part.yamlNames(), part::advice);
    Members out = new Members(in);
    in.members()
        .forEach(
            (key, member) -> {
              Name name = part.ofYaml(key);
              if (name != null) {
                out.put(name.json(), value(member, name, path.key(key)), in.keyAt(key));
              }
            });
    return out.build();
  }

  /** Translates the value of a key; null when it is broken. */
  @Nullable Json value(Json in, Name name, ProblemPath path) {
    Part part = name.part();
    if (part != null && part.hasSource() && in instanceof Json.Obj source) {
      return source(source, part, path);
    }
    if (part != null && part.is("resources")) {
      return resource(in, part, path);
    }
    Name members = name.members();
    if (in instanceof Json.Obj object && part != null) {
      return object(object, part, path);
    }
    if (in instanceof Json.Obj object && members != null) {
      Members out = new Members(object);
      object
          .members()
          .forEach((key, member) -> put(out, object, key, value(member, members, path.key(key))));
      return out.build();
    }
    Json.Arr list =
        in instanceof Json.Arr given ? given : name.isList() ? single(in, name, path) : null;
    Name items = name.items();
    if (list != null && items != null) {
      List<Json> out = new ArrayList<>();
      for (int i = 0; i < list.items().size(); i++) {
        Json item = value(list.items().get(i), items, path.index(i));
        if (item != null) {
          out.add(item);
        }
      }
      return new Json.Arr(out, list.at());
    }
    boolean isScalar = !(in instanceof Json.Obj || in instanceof Json.Arr);
    return list != null ? list : isScalar ? name.unit().read(in, path, problems) : in;
  }

  private static void put(Members out, Json.Obj from, String key, @Nullable Json value) {
    if (!UnknownKeys.isComment(key)) {
      out.put(key, value, from.keyAt(key));
    }
  }

  /** A single text or number in place of a list of one; words of a command are separated. */
  private Json.@Nullable Arr single(Json in, Name name, ProblemPath path) {
    if (!(in instanceof Json.Str text)) {
      return in instanceof Json.Num ? new Json.Arr(List.of(in), in.at()) : null;
    }
    if (!name.json().equals("command")) {
      return new Json.Arr(List.of(in), in.at());
    }
    if (SHELL.matcher(text.value()).find()) {
      problems.error(
          path,
          in,
          "no shell reads this text: only blanks separate its words",
          "write a list, such as [./task.sh, \"an argument\"], or [sh, -c, \"a | b\"]");
      return new Json.Arr(List.of(in), in.at());
    }
    return new Json.Arr(
        BLANKS
            .splitAsStream(text.value().strip())
            .<Json>map(word -> new Json.Str(word, in.at()))
            .toList(),
        in.at());
  }

  /** A resource: the limit alone, or an object in which a task takes one slot if not said. */
  private Json.Obj resource(Json in, Part part, ProblemPath path) {
    Json.Obj given =
        in instanceof Json.Obj object
            ? object
            : new Json.Obj(Map.of("limit", in), Map.of("limit", in.at()), in.at());
    Json.Obj translated = object(given, part, path);
    if (translated.get("default") != null) {
      return translated;
    }
    Members out = new Members(given);
    translated.members().forEach((key, value) -> out.put(key, value, translated.keyAt(key)));
    out.put("default", new Json.Num(BigDecimal.ONE, in.at()), in.at());
    return out.build();
  }

  /**
   * A source of nodes or of the values of a probe: {@code KIND: {...}}, or with {@code source} and
   * {@code prefs}.
   */
  private Json.Obj source(Json.Obj in, Part part, ProblemPath path) {
    if (in.get("source") != null) {
      return object(in, part, path);
    }
    List<String> unknown =
        in.members().keySet().stream().filter(key -> part.ofYaml(key) == null).toList();
    List<String> kinds = unknown.stream().filter(Preferences::canBeKind).toList();
    boolean isOfNodes = part.is("node_sources");
    Members out = new Members(in);
    if (kinds.size() == 1) {
      String kind = kinds.get(0);
      Position at = in.keyAt(kind);
      out.put("source", new Json.Str(kind, at), at);
      Json prefs = Objects.requireNonNull(in.get(kind), kind);
      out.put("prefs", Preferences.read(prefs, kind, path.key(kind), problems), at);
    } else {
      problems.error(
          path,
          in,
          "expected one kind of source, found "
              + (kinds.isEmpty() ? "none" : String.join(", ", kinds)),
          isOfNodes
              ? "write, for example, sql: {under: instance, url: ..., query: ...}; one source for"
                  + " each item of the list"
              : "write, for example, sql: {url: ..., query: ...}, or push: {}");
      // A source that causes no further problem, so that what refers to this place still finds it.
      out.put("source", new Json.Str(isOfNodes ? "empty" : "push", in.at()), in.at());
    }
    Json.Obj rest = in;
    for (String key : kinds.size() == 1 ? kinds : unknown) {
      rest = rest.without(key);
    }
    Json.Obj others = object(rest, part, path);
    others.members().forEach((key, value) -> out.put(key, value, others.keyAt(key)));
    return out.build();
  }

  /** Collects the members of an object in order. */
  static final class Members {
    private final Position at;
    private final Map<String, Json> values = new LinkedHashMap<>();
    private final Map<String, Position> keys = new HashMap<>();

    Members(Json like) {
      at = like.at();
    }

    void put(String key, @Nullable Json value, Position keyAt) {
      if (value != null) {
        values.put(key, value);
        keys.put(key, keyAt);
      }
    }

    Json.Obj build() {
      return new Json.Obj(values, keys, at);
    }
  }
}
