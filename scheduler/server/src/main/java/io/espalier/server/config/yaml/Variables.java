package io.espalier.server.config.yaml;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.json.Utf8;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Replaces {@code ${NAME}}, {@code ${env:NAME}} and {@code ${file:PATH}} in texts. A dollar sign
 * before one of them makes it plain text.
 */
final class Variables {
  private static final Pattern REFERENCE =
      Pattern.compile("(?<plain>\\$\\$\\{)|\\$\\{(?<name>[^}]*)(?<end>\\}?)");

  /** The longest file that becomes part of a text, in bytes. */
  private static final int MAX_BYTES = 64 << 10;

  /** The longest text that variables make, in characters. */
  private static final int MAX_LENGTH = 8 << 20;

  private final Function<String, @Nullable String> environment;
  private final Map<String, Document> files;
  private final Map<String, Json> values = new LinkedHashMap<>();

  /** Variables whose definitions have a problem. */
  private final Set<String> broken = new HashSet<>();

  /** Variables that are being defined: they cannot be used in each other. */
  private Set<String> unfinished = Set.of();

  /**
   * @param files what the documents refer to, by name
   */
  Variables(Function<String, @Nullable String> environment, Map<String, Document> files) {
    this.environment = environment;
    this.files = files;
  }

  /** Adds what {@code variables} defines; variables of other variables are not replaced. */
  void define(Json.Obj variables, ProblemPath path, Problems problems) {
    Map<String, Json> defined = new LinkedHashMap<>();
    unfinished = variables.members().keySet();
    variables
        .members()
        .forEach(
            (name, value) -> {
              if (value instanceof Json.Obj || value instanceof Json.Arr) {
                problems.error(
                    path.key(name),
                    value,
                    "expected a text or number, found " + value.kind(),
                    null);
              }
              Json resolved = resolved(value, path.key(name), problems);
              if (resolved == null) {
                broken.add(name);
              } else {
                defined.put(name, resolved);
              }
            });
    unfinished = Set.of();
    values.putAll(defined);
  }

  /**
   * Returns a value with everything in its texts replaced. Null, with an error, for a text that
   * refers to what does not exist; such members and items are left out of what contains them.
   */
  @Nullable Json resolved(Json value, ProblemPath path, Problems problems) {
    if (value instanceof Json.Obj object) {
      Map<String, Json> members = new LinkedHashMap<>();
      object
          .members()
          .forEach(
              (key, member) -> {
                Json found = resolved(member, path.key(key), problems);
                if (found != null) {
                  members.put(key, found);
                }
              });
      return new Json.Obj(members, object.keyPositions(), object.at());
    }
    if (value instanceof Json.Arr list) {
      List<Json> items = new ArrayList<>();
      for (int i = 0; i < list.items().size(); i++) {
        Json found = resolved(list.items().get(i), path.index(i), problems);
        if (found != null) {
          items.add(found);
        }
      }
      return new Json.Arr(items, list.at());
    }
    return value instanceof Json.Str text && text.value().contains("${")
        ? text(text, path, problems)
        : value;
  }

  private @Nullable Json text(Json.Str text, ProblemPath path, Problems problems) {
    int before = problems.errors();
    StringBuilder out = new StringBuilder();
    Matcher matcher = REFERENCE.matcher(text.value());
    int from = 0;
    while (matcher.find()) {
      out.append(text.value(), from, matcher.start());
      from = matcher.end();
      if (matcher.group("plain") != null) {
        out.append("${");
      } else if (matcher.group("end").isEmpty()) {
        problems.error(
            path,
            new Json.Str("${", text.at()),
            "a \"${\" is not closed",
            "write \"$${\" if no variable is meant");
      } else {
        // Problems show only the reference: the rest of the text may be a secret.
        Json.Str reference = new Json.Str(matcher.group(), text.at());
        Json value = value(matcher.group("name"), reference, path, problems);
        boolean isAll = matcher.start() == 0 && from == text.value().length();
        if (isAll && value != null) {
          return at(value, text.at());
        }
        if (value != null) {
          String part =
              value instanceof Json.Str string ? string.value() : JsonWriter.compact(value);
          if (part.length() > MAX_LENGTH - out.length()) {
            problems.error(
                path,
                reference,
                "with its variables replaced, the text is longer than the allowed "
                    + MAX_LENGTH
                    + " characters",
                "let what needs so much text read it from a file");
            return null;
          }
          out.append(part);
        }
      }
    }
    out.append(text.value(), from, text.value().length());
    return problems.errors() > before ? null : new Json.Str(out.toString(), text.at());
  }

  /** Moves a value to the place where it is used. */
  private static Json at(Json value, Position at) {
    if (value instanceof Json.Str text) {
      return new Json.Str(text.value(), at);
    }
    if (value instanceof Json.Num number) {
      return new Json.Num(number.value(), at);
    }
    return value instanceof Json.Bool bool ? new Json.Bool(bool.value(), at) : new Json.Null(at);
  }

  private @Nullable Json value(String name, Json.Str text, ProblemPath path, Problems problems) {
    if (name.startsWith("env:")) {
      String found = environment.apply(name.substring(4));
      if (found == null) {
        problems.error(
            path,
            text,
            "the environment variable " + name.substring(4) + " is not set",
            "set it for the process that reads the configuration");
      }
      return found == null ? null : Json.of(found);
    }
    if (name.startsWith("file:")) {
      return file(name.substring(5), text, path, problems);
    }
    Json found = values.get(name);
    if (found == null && unfinished.contains(name)) {
      problems.error(
          path,
          text,
          "a variable cannot have other variables in it",
          "write out what " + name + " stands for");
    } else if (found == null && broken.contains(name)) {
      problems.error(
          path, text, "the variable \"" + name + "\" has no value", "mend variables." + name);
    } else if (found == null) {
      String near = Suggestions.didYouMean(name, values.keySet());
      problems.error(
          path,
          text,
          "unknown variable \"" + name + "\"",
          near != null ? near : "write \"$${\" if no variable is meant");
    }
    return found;
  }

  private @Nullable Json file(String name, Json.Str text, ProblemPath path, Problems problems) {
    Document document = files.get(YamlText.resolved(text.at().file(), name));
    if (document == null) {
      problems.error(path, text, "the file \"" + name + "\" cannot be read", YamlTranslation.FILES);
      return null;
    }
    Result<String> decoded = Utf8.decode(document.bytes(), MAX_BYTES, document.name());
    String content = decoded.value();
    if (content == null) {
      problems.addAll(decoded.problems());
      return null;
    }
    return Json.of(content.replaceFirst("\\R\\z", ""));
  }
}
