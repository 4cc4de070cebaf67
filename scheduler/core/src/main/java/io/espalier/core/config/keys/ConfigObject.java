package io.espalier.core.config.keys;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An object of the configuration with a fixed set of keys. Missing and broken values yield the
 * default; broken ones also add an error.
 */
public final class ConfigObject {
  // A key this close to a known one is a typo, which would silently change what happens
  // (docs/design/design.md#unknown-keys).
  private static final int TYPO = 2;

  /**
   * The maximum number of unknown keys of one object that are checked individually: each costs a
   * search for a typo.
   */
  private static final int MOST_UNKNOWN = 20;

  private final Json.Obj object;
  private final ConfigValue value;
  private final Section<?> section;

  private ConfigObject(ConfigValue value, Json.Obj object, Section<?> section) {
    this.object = object;
    this.value = value;
    this.section = section;
  }

  /** Wraps an object, and reports its unknown keys. */
  static ConfigObject of(ConfigValue value, Json.Obj object, Section<?> section) {
    ConfigObject fields = new ConfigObject(value, object, section);
    fields.checkKeys();
    return fields;
  }

  /** The same object, whose values can refer to other names. */
  public ConfigObject within(Names names) {
    return new ConfigObject(
        new ConfigValue(value.json(), value.path(), value.problems(), names), object, section);
  }

  private void checkKeys() {
    List<Map.Entry<String, Json>> unknown =
        object.members().entrySet().stream()
            .filter(member -> !section.has(member.getKey()))
            .filter(member -> !isComment(member.getKey()))
            .toList();
    unknown.stream()
        .limit(MOST_UNKNOWN)
        .forEach(member -> checkKey(member.getKey(), member.getValue()));
    if (unknown.size() > MOST_UNKNOWN) {
      // An error, since there may be typos among them.
      String next = unknown.get(MOST_UNKNOWN).getKey();
      value
          .problems()
          .add(
              Problems.at(
                  Severity.ERROR,
                  value.path(),
                  object.keyAt(next),
                  null,
                  "%d more unknown keys from \"%s\" on, which were not looked at"
                      .formatted(unknown.size() - MOST_UNKNOWN, next),
                  "start comments with \"_\""));
    }
  }

  /** Returns true for keys that people use as comments. */
  public static boolean isComment(String key) {
    return key.startsWith("_") || key.startsWith("//");
  }

  /** Reports a key that is not among the known ones. */
  private void checkKey(String key, Json given) {
    String meant = section.spellings().get(key);
    if (meant != null && object.get(meant) != null) {
      keyProblem(Severity.ERROR, key, given, "the key \"" + meant + "\" is given too", "keep one");
      return;
    }
    if (meant != null) {
      keyProblem(
          Severity.WARNING,
          key,
          given,
          "this key is read as \"" + meant + "\"",
          "write \"" + meant + "\"");
      return;
    }
    if (section.obsolete().containsKey(key)) {
      keyProblem(Severity.WARNING, key, given, "obsolete key", section.obsolete().get(key));
      return;
    }
    String near = Suggestions.closest(key, section.names(), TYPO);
    if (near != null) {
      keyProblem(Severity.ERROR, key, given, "unknown key", "did you mean \"" + near + "\"?");
    } else {
      keyProblem(
          Severity.WARNING,
          key,
          given,
          "unknown key, it does nothing",
          "start it with \"_\" if it is a comment");
    }
  }

  private void keyProblem(
      Severity severity, String key, Json given, String message, @Nullable String hint) {
    value
        .problems()
        .add(Problems.at(severity, value.path().key(key), object.keyAt(key), given, message, hint));
  }

  /** The value that this object is. */
  public ConfigValue value() {
    return value;
  }

  /** The object as it was written. */
  public Json.Obj json() {
    return object;
  }

  /** The value of a key or of another spelling of it; null when there is none. */
  public @Nullable ConfigValue find(String key) {
    Json found = object.get(key);
    if (found != null) {
      return member(key, found);
    }
    for (Map.Entry<String, String> spelling : section.spellings().entrySet()) {
      Json other = object.get(spelling.getKey());
      if (spelling.getValue().equals(key) && other != null) {
        return member(spelling.getKey(), other);
      }
    }
    return null;
  }

  private ConfigValue member(String key, Json found) {
    return new ConfigValue(found, value.path().key(key), value.problems(), value.names());
  }

  /** Where a key is given; null where it is not. The absence of a required key is an error. */
  public @Nullable ConfigValue find(Key<?, ?> key) {
    ConfigValue found = section.has(key.name()) ? find(key.name()) : null;
    if (found == null && key.missing() != null) {
      missing(Severity.ERROR, key, "the key is missing, expected " + key.missing());
    }
    return found;
  }

  public boolean has(Key<?, ?> key) {
    return section.has(key.name()) && find(key.name()) != null;
  }

  /** Reports that a key is missing. */
  public void missing(Severity severity, Key<?, ?> key, String message) {
    value
        .problems()
        .add(Problems.at(severity, value.path().key(key.name()), object.at(), null, message, null));
  }

  /**
   * Reads a key; its value in {@code base} is the inherited one.
   *
   * @return null when the key is missing or broken
   */
  public <R, T> @Nullable T read(Key<R, T> key, R base) {
    ConfigValue found = find(key);
    return found == null ? null : key.type().reader().read(found, key.of(base));
  }

  /** Reads a key; when it is missing, broken or unknown here, its value is that in {@code base}. */
  public <R, T> T get(Key<R, T> key, R base) {
    T read = read(key, base);
    return read == null ? key.of(base) : read;
  }
}
