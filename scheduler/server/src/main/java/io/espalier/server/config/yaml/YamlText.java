package io.espalier.server.config.yaml;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problems;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells YAML from JSON, and finds the files to which a YAML text refers. */
public final class YamlText {
  /** How much of a text without a telling name is looked at. */
  private static final int BEGINNING = 4096;

  private static final Pattern FIRST_KEY =
      Pattern.compile("\\A\ufeff?(?:(?:[ \\t]*#.*|---.*|%.*|[ \\t]*)\\R)*espalier[ \\t]*:");
  private static final Pattern INCLUDE = Pattern.compile("(?m)^[\"']?include[\"']?[ \\t]*:");
  private static final Pattern FILE = Pattern.compile("\\$\\{file:([^}]*)\\}");

  private YamlText() {}

  /** Tells by the name of a document, or by its first key when the name says nothing. */
  public static boolean isYaml(Document document) {
    String name = document.name().toLowerCase(Locale.ROOT);
    if (name.endsWith(".json")) {
      return false;
    }
    return name.endsWith(".yaml")
        || name.endsWith(".yml")
        || FIRST_KEY.matcher(beginning(document.bytes())).find();
  }

  private static String beginning(byte[] bytes) {
    return new String(bytes, 0, Math.min(bytes.length, BEGINNING), StandardCharsets.UTF_8);
  }

  /** Returns the names of the files that a YAML document includes or reads, whether they exist. */
  public static Set<String> references(Document document) {
    if (!isYaml(document)) {
      return Set.of();
    }
    Set<String> names = new TreeSet<>();
    String text = new String(document.bytes(), StandardCharsets.UTF_8);
    Matcher files = FILE.matcher(text);
    while (files.find()) {
      names.add(resolved(document.name(), files.group(1)));
    }
    if (INCLUDE.matcher(text).find()
        && YamlReader.read(document, new Problems()) instanceof Json.Obj object) {
      for (Json file : included(object)) {
        if (file instanceof Json.Str name) {
          names.add(resolved(document.name(), name.value()));
        }
      }
    }
    return names;
  }

  /** The items of {@code include}: a list, or one file. */
  static List<Json> included(Json.Obj document) {
    Json include = document.get("include");
    return include == null
        ? List.of()
        : include instanceof Json.Arr list ? list.items() : List.of(include);
  }

  /** Returns the name of a file as seen from a document: relative to the document's directory. */
  static String resolved(String document, String file) {
    try {
      return Path.of(document).resolveSibling(file).normalize().toString();
    } catch (InvalidPathException e) {
      return file;
    }
  }
}
