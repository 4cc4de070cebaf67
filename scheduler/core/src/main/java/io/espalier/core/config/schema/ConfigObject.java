package io.espalier.core.config.schema;

import io.espalier.core.config.schema.UnknownKeys.Advice;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Problems;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An object of the configuration with a fixed set of keys. Missing and broken values yield the
 * default; broken ones also add an error.
 */
public final class ConfigObject {
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
    UnknownKeys.report(object, value.path(), value.problems(), section.names(), this::advice);
  }

  private @Nullable Advice advice(String key) {
    String meant = section.spellings().get(key);
    if (meant != null && object.get(meant) != null) {
      return new Advice(Severity.ERROR, "the key \"" + meant + "\" is given too", "keep one");
    }
    if (meant != null) {
      return new Advice(
          Severity.WARNING, "this key is read as \"" + meant + "\"", "write \"" + meant + "\"");
    }
    String replacement = section.obsolete().get(key);
    return replacement == null ? null : new Advice(Severity.WARNING, "obsolete key", replacement);
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
