package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
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
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One value of a document with its path. Each parsing method returns null, and adds an error, when
 * the value is not of the expected kind; scalars are converted leniently
 * (docs/design/bistro.md#reading-values): a string that contains a number is a number, {@code
 * "true"} and 1 are true, a number is a string.
 */
record ConfigValue(Json json, ProblemPath path, Problems problems) {
  /** The longest accepted time, about thirty years. */
  static final double LONGEST_SECONDS = 1e9;

  /** A whole number within bounds. */
  @Nullable Long integer(long min, long max) {
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

  /** A 32-bit whole number of at least {@code min}. */
  @Nullable Integer int32(int min) {
    Long value = integer(min, Integer.MAX_VALUE);
    return value == null ? null : Math.toIntExact(value);
  }

  /** A finite number within bounds. */
  @Nullable Double number(double min, double max) {
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

  @Nullable Boolean bool() {
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
  boolean isFalse() {
    return json.equals(Json.Bool.FALSE);
  }

  @Nullable String text() {
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
  @Nullable String name(String what) {
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
  <E> @Nullable E oneOf(Map<String, E> words) {
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

  /** The index of a level. */
  @Nullable Integer level(Levels levels) {
    String name = text();
    if (name == null) {
      return null;
    }
    int level = levels.find(name);
    if (level < 0) {
      error("unknown level", Suggestions.hint(name, levels.names()));
      return null;
    }
    return level;
  }

  /** Reports the unknown name of a level that is used as a key. */
  static void unknownLevel(ConfigValue value, String name, Levels levels) {
    value.error("unknown level \"" + name + "\"", Suggestions.hint(name, levels.names()));
  }

  /**
   * Seconds after which orphans are killed: false or negative means never, true means at once.
   *
   * @return {@code otherwise} when the value is broken
   */
  Optional<Duration> killOrphansAfter(Optional<Duration> otherwise) {
    if (json instanceof Json.Bool bool) {
      return bool.value() ? Optional.of(Duration.ZERO) : Optional.empty();
    }
    if (!(json instanceof Json.Num)) {
      wrongKind("true, false or a number of seconds");
      return otherwise;
    }
    Double seconds = number(-Double.MAX_VALUE, LONGEST_SECONDS);
    if (seconds == null) {
      return otherwise;
    }
    return seconds < 0 ? Optional.empty() : Optional.of(millis(seconds));
  }

  /** Converts seconds to milliseconds, rounded. */
  static Duration millis(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** An object, unchanged. */
  Json.@Nullable Obj object() {
    if (json instanceof Json.Obj object) {
      return object;
    }
    wrongKind("an object");
    return null;
  }

  /** An object with a fixed set of keys. */
  @Nullable ConfigObject fields(ConfigSection place) {
    Json.Obj object = object();
    return object == null ? null : ConfigObject.of(object, path, problems, place);
  }

  /** An object whose keys are names: all members except comments, in order. */
  @Nullable Map<String, ConfigValue> members() {
    Json.Obj object = object();
    if (object == null) {
      return null;
    }
    Map<String, ConfigValue> members = new LinkedHashMap<>();
    object
        .members()
        .forEach(
            (key, member) -> {
              if (!ConfigObject.isComment(key)) {
                members.put(key, new ConfigValue(member, path.key(key), problems));
              }
            });
    return members;
  }

  @Nullable List<ConfigValue> items() {
    if (!(json instanceof Json.Arr array)) {
      wrongKind("a list");
      return null;
    }
    List<ConfigValue> items = new ArrayList<>();
    for (Json item : array.items()) {
      items.add(new ConfigValue(item, path.index(items.size()), problems));
    }
    return items;
  }

  /** The strings of a list; invalid items are omitted, each with an error. */
  @Nullable List<String> texts() {
    List<ConfigValue> items = items();
    if (items == null) {
      return null;
    }
    List<String> texts = new ArrayList<>();
    for (ConfigValue item : items) {
      String text = item.text();
      if (text != null) {
        texts.add(text);
      }
    }
    return texts;
  }

  void error(String message, @Nullable String hint) {
    problems.error(path, json, message, hint);
  }

  void warning(String message, @Nullable String hint) {
    problems.warning(path, json, message, hint);
  }

  /** A hint to the nearest of several words, or null. */
  @Nullable String didYouMean(Collection<String> words) {
    if (!(json instanceof Json.Str text)) {
      return null;
    }
    String near = Suggestions.closest(text.value(), words, 3);
    return near == null ? null : "did you mean \"" + near + "\"?";
  }

  private void wrongKind(String expected) {
    error("expected " + expected + ", found " + json.kind(), null);
  }
}
