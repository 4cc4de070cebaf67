package io.espalier.core.config.schema;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One value of a document with its path. Each parsing method returns null, and adds an error, when
 * the value is not of the expected kind; scalars are converted leniently
 * (docs/design/bistro.md#reading-values): a string that contains a number is a number, {@code
 * "true"} and 1 are true, a number is a string.
 */
public record ConfigValue(Json json, ProblemPath path, Problems problems, Names names) {
  /** Stands for the resources of all levels. */
  public static final int ANY = -1;

  /** The longest accepted time, about thirty years. */
  public static final double LONGEST_SECONDS = 1e9;

  /** A whole number within bounds. */
  public @Nullable Long integer(long min, long max) {
    BigDecimal number = decimal();
    if (number == null) {
      wrongKind("a whole number");
      return null;
    }
    // 1e9999999 must not be expanded to find out that it is too large.
    boolean whole = number.signum() == 0 || number.stripTrailingZeros().scale() <= 0;
    if (!whole) {
      error("expected a whole number", null);
      return null;
    }
    if (number.compareTo(BigDecimal.valueOf(min)) < 0
        || number.compareTo(BigDecimal.valueOf(max)) > 0) {
      error("expected a whole number from " + min + " to " + max, null);
      return null;
    }
    return number.longValueExact();
  }

  /** A finite number within bounds. */
  public @Nullable Double number(double min, double max) {
    BigDecimal number = decimal();
    if (number == null) {
      wrongKind("a number");
      return null;
    }
    double value = number.doubleValue();
    if (!(value >= min && value <= max) || Double.isInfinite(value)) {
      error("expected a number" + range(min, max), null);
      return null;
    }
    return value;
  }

  private static String range(double min, double max) {
    String atLeast = min == -Double.MAX_VALUE ? "" : " of at least " + Json.of(min);
    String atMost = max == Double.MAX_VALUE ? "" : " of at most " + Json.of(max);
    return atLeast.isEmpty() || atMost.isEmpty()
        ? atLeast + atMost
        : " from " + Json.of(min) + " to " + Json.of(max);
  }

  private @Nullable BigDecimal decimal() {
    if (json instanceof Json.Num number) {
      return number.value();
    }
    if (json instanceof Json.Str string && string.value().length() <= 100) {
      try {
        return new BigDecimal(string.value().strip());
      } catch (NumberFormatException e) {
        return null;
      }
    }
    return null;
  }

  public @Nullable Boolean bool() {
    if (json instanceof Json.Bool bool) {
      return bool.value();
    }
    String text = json instanceof Json.Str s ? s.value() : json.toString();
    if (json instanceof Json.Num n) {
      text = n.equals(Json.of(1)) ? "1" : n.equals(Json.of(0)) ? "0" : text;
    }
    return switch (text) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default -> {
        wrongKind("true or false");
        yield null;
      }
    };
  }

  /** Returns true when it is the value that removes an inherited one. */
  public boolean isFalse() {
    return json.equals(Json.Bool.FALSE);
  }

  public @Nullable String text() {
    if (json instanceof Json.Str string) {
      return string.value();
    }
    if (json instanceof Json.Num) {
      return json.toString();
    }
    wrongKind("a string");
    return null;
  }

  /** Text that can be a name: not empty and without control characters. */
  public @Nullable String name(String what) {
    String text = text();
    if (text == null) {
      return null;
    }
    if (text.isEmpty() || text.chars().anyMatch(Character::isISOControl)) {
      error(what + " must not be empty or hold control characters", null);
      return null;
    }
    return text;
  }

  /** One of several words. */
  public <E> @Nullable E oneOf(Map<String, E> words) {
    String text = text();
    if (text == null) {
      return null;
    }
    E found = words.get(text);
    if (found == null) {
      error("expected one of " + String.join(", ", words.keySet()), didYouMean(words.keySet()));
    }
    return found;
  }

  /** The index of a level; null, without an error, when the levels are not known. */
  @Nullable Integer level() {
    String name = text();
    return name == null ? null : level(name, "unknown level");
  }

  /** The same of a level whose name is the key of this value. */
  public @Nullable Integer levelOfKey(String name) {
    return level(name, "unknown level \"" + name + "\"");
  }

  private @Nullable Integer level(String name, String message) {
    if (!names.levelsAreKnown()) {
      return null;
    }
    Levels levels = names.levels();
    int level = levels.find(name);
    if (level < 0) {
      error(message, Suggestions.hint(name, levels.names()));
      return null;
    }
    return level;
  }

  /** The amounts of an object from resources of a level, or of any one, to amounts. */
  public <N> @Nullable Map<Resource, N> byResource(ValueType<N> type, N none, int level) {
    Map<String, ConfigValue> members = members();
    if (members == null) {
      return null;
    }
    Map<Resource, N> amounts = new LinkedHashMap<>();
    members.forEach(
        (name, member) -> {
          N amount = type.reader().read(member, none);
          Resource resource = member.resource(name, level);
          if (amount != null && resource != null) {
            amounts.put(resource, amount);
          }
        });
    return amounts;
  }

  /**
   * The resource of that name; null, with an error at this value, when the level has none. Also
   * null when resources are not known.
   */
  public @Nullable Resource resource(String name, int level) {
    if (!names.areKnown()) {
      return null;
    }
    Resource resource = names.resources().find(name);
    List<String> known =
        (level == ANY ? names.resources().all() : names.resources().ofLevel(level))
            .stream().map(Resource::name).toList();
    if (resource == null) {
      error("unknown resource \"" + name + "\"", Suggestions.hint(name, known));
    } else if (level != ANY && resource.level() != level) {
      error(
          "\"%s\" is a resource of the level \"%s\", expected one of the level \"%s\""
              .formatted(name, names.levels().name(resource.level()), names.levels().name(level)),
          known.isEmpty() ? null : Suggestions.hint(name, known));
      return null;
    }
    return resource;
  }

  /** Converts seconds to milliseconds, rounded. */
  public static Duration millis(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** An object, unchanged. */
  public Json.@Nullable Obj object() {
    if (json instanceof Json.Obj object) {
      return object;
    }
    wrongKind("an object");
    return null;
  }

  /** An object whose keys are names: all members except comments, in order. */
  public @Nullable Map<String, ConfigValue> members() {
    Json.Obj object = object();
    if (object == null) {
      return null;
    }
    Map<String, ConfigValue> members = new LinkedHashMap<>();
    object
        .members()
        .forEach(
            (key, member) -> {
              if (!UnknownKeys.isComment(key)) {
                members.put(key, new ConfigValue(member, path.key(key), problems, names));
              }
            });
    return members;
  }

  /** The value of a key that is present. */
  public ConfigValue member(String key) {
    Json member = json instanceof Json.Obj object ? object.get(key) : null;
    return new ConfigValue(Objects.requireNonNull(member, key), path.key(key), problems, names);
  }

  public @Nullable List<ConfigValue> items() {
    if (!(json instanceof Json.Arr array)) {
      wrongKind("a list");
      return null;
    }
    List<ConfigValue> items = new ArrayList<>();
    for (Json item : array.items()) {
      items.add(new ConfigValue(item, path.index(items.size()), problems, names));
    }
    return items;
  }

  public void error(String message, @Nullable String hint) {
    problems.error(path, json, message, hint);
  }

  public void warning(String message, @Nullable String hint) {
    problems.warning(path, json, message, hint);
  }

  /** A hint to the nearest of several words, or null. */
  public @Nullable String didYouMean(Collection<String> words) {
    return json instanceof Json.Str text ? Suggestions.didYouMean(text.value(), words) : null;
  }

  public void wrongKind(String expected) {
    error("expected " + expected + ", found " + json.kind(), null);
  }
}
