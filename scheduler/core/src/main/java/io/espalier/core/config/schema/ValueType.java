package io.espalier.core.config.schema;

import io.espalier.core.config.Resource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * How the value of a configuration key is read, written and described.
 *
 * @param words the type in words, for the reference
 * @param schema the JSON Schema, with single quotes
 */
public record ValueType<T>(Reader<T> reader, Writer<T> writer, String words, String schema) {
  /** Reads a value. */
  public interface Reader<T> {
    /**
     * Reads a value; adds an error and returns null when it is broken.
     *
     * @param base inherited value; most types ignore it
     */
    @Nullable T read(ConfigValue value, T base);
  }

  /** Writes a value so that reading it under the same inherited value yields the same. */
  public interface Writer<T> {
    Json write(T value, T inherited, Names names);
  }

  public static final int MAX = Integer.MAX_VALUE;
  private static final int LONGEST_REGEX = 10_000;
  private static final String NUMBER_AS_TEXT =
      "{'type': 'string', 'pattern':"
          + " '^\\\\s*[+-]?([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][+-]?[0-9]+)?\\\\s*$'}";
  private static final String PLAIN_TEXT = "^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$";

  /** A type whose values do not depend on inherited ones, nor on names. */
  public static <T> ValueType<T> of(
      Function<ConfigValue, @Nullable T> reader,
      Function<T, Json> writer,
      String words,
      String schema) {
    return new ValueType<>(
        (value, base) -> reader.apply(value),
        (value, inherited, names) -> writer.apply(value),
        words,
        schema);
  }

  public static String anyOf(String... schemas) {
    return "{'anyOf': [" + String.join(", ", schemas) + "]}";
  }

  public static ValueType<Boolean> bool() {
    return of(
        ConfigValue::bool,
        Json::of,
        "truth value",
        "{'enum': [true, false, 1, 0, 'true', 'false', '1', '0']}");
  }

  public static ValueType<Long> int64(long min, long max) {
    return of(
        value -> value.integer(min, max),
        Json::of,
        "integer" + range(min, min <= Integer.MIN_VALUE, max, max >= MAX),
        anyOf(
            "{'type': 'integer', 'minimum': " + min + ", 'maximum': " + max + "}", NUMBER_AS_TEXT));
  }

  public static ValueType<Integer> int32(int min, int max) {
    return int64(min, max).as(Math::toIntExact, Integer::longValue);
  }

  public static ValueType<Integer> int32(int min) {
    return int32(min, MAX);
  }

  public static ValueType<Double> number(double min, double max) {
    boolean hasMin = min > -Double.MAX_VALUE;
    boolean hasMax = max < Double.MAX_VALUE;
    return of(
        value -> value.number(min, max),
        Json::of,
        "number" + range(Json.of(min), !hasMin, Json.of(max), !hasMax),
        anyOf(
            "{'type': 'number'"
                + (hasMin ? ", 'minimum': " + Json.of(min) : "")
                + (hasMax ? ", 'maximum': " + Json.of(max) : "")
                + "}",
            NUMBER_AS_TEXT));
  }

  private static String range(Object min, boolean hasNoMin, Object max, boolean hasNoMax) {
    String from = hasNoMin ? "" : ", " + min + " or more";
    return hasNoMax ? from : " from " + min + " to " + max;
  }

  public static ValueType<Duration> seconds(double min, double max) {
    return number(min, max)
        .as(ConfigValue::millis, time -> time.toMillis() / 1000.0)
        .says("seconds");
  }

  /** An object that is passed on as it is. */
  public static ValueType<Json.Obj> object() {
    return of(ConfigValue::object, json -> json, "object", "{'type': 'object'}");
  }

  public static ValueType<String> text() {
    return of(ConfigValue::text, Json::of, "text", "{'type': ['string', 'number']}");
  }

  /** Text that can be a name: not empty and without control characters. */
  public static ValueType<String> name(String what) {
    return of(
        value -> value.name(what),
        Json::of,
        "name",
        anyOf(
            "{'type': 'string', 'minLength': 1, 'pattern': '" + PLAIN_TEXT + "'}",
            "{'type': 'number'}"));
  }

  /** Text without control characters, which may be empty. */
  public static ValueType<String> plainText(String message) {
    return text()
        .checked(text -> !hasControls(text), message)
        .inSchema(
            anyOf("{'type': 'string', 'pattern': '" + PLAIN_TEXT + "'}", "{'type': 'number'}"));
  }

  public static boolean hasControls(String text) {
    return text.chars().anyMatch(Character::isISOControl);
  }

  /** Text that a pattern matches as a whole. */
  public static ValueType<String> text(Pattern pattern, String message) {
    return text()
        .checked(text -> pattern.matcher(text).matches(), message)
        .inSchema(
            anyOf(
                "{'type': 'string', 'pattern': '^(" + pattern.pattern() + ")$'}",
                "{'type': 'number'}"));
  }

  /** A regular expression. */
  public static ValueType<Pattern> regex() {
    return of(
        value -> {
          String text = value.text();
          return text == null ? null : compiled(value, text);
        },
        pattern -> Json.of(pattern.pattern()),
        "regular expression",
        "{'type': ['string', 'number'], 'maxLength': " + LONGEST_REGEX + "}");
  }

  /** A regular expression, or null when it is invalid. */
  private static @Nullable Pattern compiled(ConfigValue value, String text) {
    if (text.length() > LONGEST_REGEX) {
      value.error("the regular expression is longer than " + LONGEST_REGEX + " characters", null);
      return null;
    }
    try {
      return Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      String where = e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1);
      value.error("not a regular expression: " + e.getDescription() + where, null);
      return null;
    } catch (StackOverflowError e) {
      value.error("the regular expression is nested too deeply", null);
      return null;
    }
  }

  public static <E> ValueType<E> oneOf(Collection<E> values, Function<E, String> label) {
    Map<String, E> words = new LinkedHashMap<>();
    values.forEach(value -> words.put(label.apply(value), value));
    return of(
        value -> value.oneOf(words),
        value -> Json.of(label.apply(value)),
        "name",
        "{'enum': " + Json.strings(words.keySet()).toString().replace('"', '\'') + "}");
  }

  /** The name of something that is known, such as a plug-in; another name is an error. */
  public static ValueType<String> known(String what, Function<Names, Collection<String>> known) {
    return of(
        value -> {
          String name = value.text();
          Collection<String> names = known.apply(value.names());
          if (name != null && !names.contains(name)) {
            value.error("unknown " + what, Suggestions.hint(name, names));
          }
          return name;
        },
        Json::of,
        "name",
        text().schema);
  }

  /** The index of a level, which is written as its name. */
  public static ValueType<Integer> level() {
    return new ValueType<>(
        (value, base) -> value.level(),
        (level, inherited, names) -> Json.of(names.levels().name(level)),
        "level",
        text().schema);
  }

  public static <E> ValueType<List<E>> list(ValueType<E> item, E none) {
    return new ValueType<>(
        (value, base) -> {
          List<ConfigValue> items = value.items();
          return items == null
              ? null
              : new ArrayList<>(
                  items.stream()
                      .flatMap(each -> Optional.ofNullable(item.reader.read(each, none)).stream())
                      .toList());
        },
        (list, inherited, names) ->
            new Json.Arr(list.stream().map(each -> item.writer.write(each, each, names)).toList()),
        "list",
        "{'type': 'array', 'items': " + item.schema + "}");
  }

  public static ValueType<List<String>> texts() {
    return list(text(), "");
  }

  /** An object whose keys are names and whose values have the same type. */
  public static String membersSchema(String value) {
    return "{'type': 'object', 'patternProperties': {'^(_|//)': true}, 'additionalProperties': "
        + value
        + "}";
  }

  /**
   * An object from resources to amounts.
   *
   * @param ofWorkers whether only resources of workers are accepted
   */
  public static <N> ValueType<Map<Resource, N>> byResource(
      ValueType<N> amount, N none, boolean ofWorkers) {
    return new ValueType<>(
        (value, base) ->
            value.byResource(
                amount, none, ofWorkers ? value.names().levels().worker() : ConfigValue.ANY),
        (amounts, inherited, names) -> {
          Json.Builder out = Json.object();
          amounts.forEach(
              (resource, each) -> out.put(resource.name(), amount.writer.write(each, each, names)));
          return out.build();
        },
        "object",
        membersSchema(amount.schema));
  }

  /** Either a value or {@code false}, which removes an inherited one. */
  public static <E> ValueType<Optional<E>> orFalse(ValueType<E> type, E usual) {
    ValueType<Optional<E>> optional = optional(type, usual);
    return new ValueType<>(
        (value, base) -> value.isFalse() ? Optional.empty() : optional.reader.read(value, base),
        (value, inherited, names) ->
            value.isEmpty() ? Json.Bool.FALSE : optional.writer.write(value, inherited, names),
        type.words + " or `false`",
        anyOf(type.schema, "{'const': false}"));
  }

  /**
   * A value that may be absent.
   *
   * @param usual what a value is based on when none is inherited
   */
  public static <E> ValueType<Optional<E>> optional(ValueType<E> type, E usual) {
    return new ValueType<>(
        (value, base) -> {
          E read = type.reader.read(value, base.orElse(usual));
          return read == null ? null : Optional.of(read);
        },
        (value, inherited, names) ->
            value
                .map(each -> type.writer.write(each, inherited.orElse(usual), names))
                .orElse(Json.Null.NULL),
        type.words,
        type.schema);
  }

  /** A limit of 64 bits; {@code false} removes an inherited one. */
  public static ValueType<OptionalLong> limit(long min, long max) {
    return orFalse(int64(min, max), min)
        .as(
            value -> value.map(OptionalLong::of).orElse(OptionalLong.empty()),
            value -> value.isPresent() ? Optional.of(value.getAsLong()) : Optional.empty());
  }

  /** A limit of 32 bits; {@code false} removes an inherited one. */
  public static ValueType<OptionalInt> limit32(int min, int max) {
    return optionalInt(orFalse(int32(min, max), min));
  }

  /** The most of something, from 1; {@code false}: any number, which is read as 0. */
  public static ValueType<Integer> most() {
    return limit32(1, MAX)
        .as(
            limit -> limit.orElse(0),
            most -> most == 0 ? OptionalInt.empty() : OptionalInt.of(most));
  }

  public static ValueType<OptionalInt> optionalInt(ValueType<Optional<Integer>> type) {
    return type.as(
        value -> value.map(OptionalInt::of).orElse(OptionalInt.empty()),
        value -> value.isPresent() ? Optional.of(value.getAsInt()) : Optional.empty());
  }

  public static ValueType<OptionalDouble> optionalDouble(ValueType<Double> type) {
    return optional(type, 0.0)
        .as(
            value -> value.map(OptionalDouble::of).orElse(OptionalDouble.empty()),
            value -> value.isPresent() ? Optional.of(value.getAsDouble()) : Optional.empty());
  }

  /** The same values in another form. */
  public <U> ValueType<U> as(Function<T, U> to, Function<U, T> from) {
    return new ValueType<>(
        (value, base) -> {
          T read = reader.read(value, from.apply(base));
          return read == null ? null : to.apply(read);
        },
        (value, inherited, names) -> writer.write(from.apply(value), from.apply(inherited), names),
        words,
        schema);
  }

  /** Adds a condition, whose violation is an error. */
  public ValueType<T> checked(Predicate<T> condition, String message) {
    return checked(condition, message, null);
  }

  /** Adds a condition, whose violation is an error with a hint. */
  public ValueType<T> checked(Predicate<T> condition, String message, @Nullable String hint) {
    return new ValueType<>(
        (value, base) -> {
          T read = reader.read(value, base);
          if (read != null && !condition.test(read)) {
            value.error(message, hint);
            return null;
          }
          return read;
        },
        writer,
        words,
        schema);
  }

  /** The same type with other words. */
  public ValueType<T> says(String newWords) {
    return new ValueType<>(reader, writer, newWords, schema);
  }

  /** The same type with another JSON Schema. */
  public ValueType<T> inSchema(String newSchema) {
    return new ValueType<>(reader, writer, words, newSchema);
  }
}
