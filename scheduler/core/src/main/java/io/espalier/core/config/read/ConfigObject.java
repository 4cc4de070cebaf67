package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An object of the configuration with a fixed set of keys. Missing and broken values yield the
 * default; broken ones also add an error.
 */
final class ConfigObject {
  // A key this close to a known one is a typo, which would silently change what happens
  // (docs/design/design.md#unknown-keys).
  private static final int TYPO = 2;

  /**
   * The maximum number of unknown keys of one object that are checked individually: each costs a
   * search for a typo.
   */
  private static final int MOST_UNKNOWN = 20;

  private final Json.Obj object;
  private final ProblemPath path;
  private final Problems problems;
  private final ConfigSection place;

  private ConfigObject(Json.Obj object, ProblemPath path, Problems problems, ConfigSection place) {
    this.object = object;
    this.path = path;
    this.problems = problems;
    this.place = place;
  }

  /** Wraps the object, and reports its unknown keys. */
  static ConfigObject of(
      Json.Obj object, ProblemPath path, Problems problems, ConfigSection place) {
    ConfigObject fields = new ConfigObject(object, path, problems, place);
    fields.checkKeys();
    return fields;
  }

  private void checkKeys() {
    List<Map.Entry<String, Json>> unknown =
        object.members().entrySet().stream()
            .filter(member -> !place.keys().contains(member.getKey()))
            .filter(member -> !isComment(member.getKey()))
            .toList();
    unknown.stream()
        .limit(MOST_UNKNOWN)
        .forEach(member -> checkKey(member.getKey(), member.getValue()));
    if (unknown.size() > MOST_UNKNOWN) {
      // An error, since there may be typos among them.
      String next = unknown.get(MOST_UNKNOWN).getKey();
      problems.add(
          Problems.at(
              Severity.ERROR,
              path,
              object.keyAt(next),
              null,
              "%d more unknown keys from \"%s\" on, which were not looked at"
                  .formatted(unknown.size() - MOST_UNKNOWN, next),
              "start comments with \"_\""));
    }
  }

  /** Returns true for keys that people use as comments. */
  static boolean isComment(String key) {
    return key.startsWith("_") || key.startsWith("//");
  }

  /** Reports a key that is not among the known ones. */
  private void checkKey(String key, Json value) {
    String meant = place.spellings().get(key);
    if (meant != null && object.get(meant) != null) {
      keyProblem(Severity.ERROR, key, value, "the key \"" + meant + "\" is given too", "keep one");
      return;
    }
    if (meant != null) {
      keyProblem(
          Severity.WARNING,
          key,
          value,
          "this key is read as \"" + meant + "\"",
          "write \"" + meant + "\"");
      return;
    }
    if (place.obsolete().containsKey(key)) {
      keyProblem(Severity.WARNING, key, value, "obsolete key", place.obsolete().get(key));
      return;
    }
    String near = Suggestions.closest(key, place.keys(), TYPO);
    if (near != null) {
      keyProblem(Severity.ERROR, key, value, "unknown key", "did you mean \"" + near + "\"?");
    } else {
      keyProblem(
          Severity.WARNING,
          key,
          value,
          "unknown key, it does nothing",
          "start it with \"_\" if it is a comment");
    }
  }

  private void keyProblem(
      Severity severity, String key, Json value, String message, @Nullable String hint) {
    problems.add(Problems.at(severity, path.key(key), object.keyAt(key), value, message, hint));
  }

  /** Returns true when the key is known here. */
  boolean knows(String key) {
    return place.keys().contains(key);
  }

  Json.Obj json() {
    return object;
  }

  ProblemPath path() {
    return path;
  }

  Problems problems() {
    return problems;
  }

  /** The value of a key or of an alternative spelling of it. */
  @Nullable ConfigValue find(String key) {
    if (!place.keys().contains(key)) {
      throw new IllegalArgumentException(key + " is not a key of " + place);
    }
    Json value = object.get(key);
    if (value != null) {
      return new ConfigValue(value, path.key(key), problems);
    }
    for (Map.Entry<String, String> spelling : place.spellings().entrySet()) {
      Json other = object.get(spelling.getKey());
      if (spelling.getValue().equals(key) && other != null) {
        return new ConfigValue(other, path.key(spelling.getKey()), problems);
      }
    }
    return null;
  }

  /** The value of an obsolete key that still has an effect. */
  @Nullable ConfigValue findObsolete(String key) {
    Json value = object.get(key);
    return value == null ? null : new ConfigValue(value, path.key(key), problems);
  }

  /** The value of a key; its absence is an error. */
  @Nullable ConfigValue require(String key, String expected) {
    ConfigValue value = find(key);
    if (value == null) {
      missing(Severity.ERROR, key, "the key is missing, expected " + expected);
    }
    return value;
  }

  /** Reports that a key is missing. */
  void missing(Severity severity, String key, String message) {
    problems.add(Problems.at(severity, path.key(key), object.at(), null, message, null));
  }

  boolean bool(String key, boolean otherwise) {
    ConfigValue value = find(key);
    Boolean read = value == null ? null : value.bool();
    return read == null ? otherwise : read;
  }

  int int32(String key, int otherwise, int min) {
    ConfigValue value = find(key);
    Integer read = value == null ? null : value.int32(min);
    return read == null ? otherwise : read;
  }

  long integer(String key, long otherwise, long min) {
    ConfigValue value = find(key);
    Long read = value == null ? null : value.integer(min, Long.MAX_VALUE);
    return read == null ? otherwise : read;
  }

  /** A 32-bit limit within bounds; {@code false} removes an inherited one. */
  OptionalInt limit(String key, OptionalInt inherited, int min, int max) {
    OptionalLong otherwise =
        inherited.isPresent() ? OptionalLong.of(inherited.getAsInt()) : OptionalLong.empty();
    OptionalLong read = limit(key, otherwise, min, (long) max);
    return read.isPresent() ? OptionalInt.of((int) read.getAsLong()) : OptionalInt.empty();
  }

  /** A limit within bounds; {@code false} removes an inherited one. */
  OptionalLong limit(String key, OptionalLong inherited, long min, long max) {
    ConfigValue value = find(key);
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return OptionalLong.empty();
    }
    Long read = value.integer(min, max);
    return read == null ? inherited : OptionalLong.of(read);
  }

  double number(String key, double otherwise, double min, double max) {
    ConfigValue value = find(key);
    Double read = value == null ? null : value.number(min, max);
    return read == null ? otherwise : read;
  }

  String text(String key, String otherwise) {
    ConfigValue value = find(key);
    String read = value == null ? null : value.text();
    return read == null ? otherwise : read;
  }

  Json.Obj object(String key, Json.Obj otherwise) {
    ConfigValue value = find(key);
    Json.Obj read = value == null ? null : value.object();
    return read == null ? otherwise : read;
  }

  List<String> texts(String key, List<String> otherwise) {
    ConfigValue value = find(key);
    List<String> read = value == null ? null : value.texts();
    return read == null ? otherwise : read;
  }

  <E> E oneOf(String key, E otherwise, Map<String, E> words) {
    ConfigValue value = find(key);
    E read = value == null ? null : value.oneOf(words);
    return read == null ? otherwise : read;
  }

  int level(String key, int otherwise, Levels levels) {
    ConfigValue value = find(key);
    Integer read = value == null ? null : value.level(levels);
    return read == null ? otherwise : read;
  }
}
