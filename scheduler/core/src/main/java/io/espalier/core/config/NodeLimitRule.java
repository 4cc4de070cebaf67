package io.espalier.core.config;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One entry of {@code node_resources_override}: limits that differ on some nodes of a level, or
 * some workers. Entries are looked at in order; for each node and resource the last that matches
 * counts.
 *
 * @param level index of the level
 * @param kind how nodes are chosen
 * @param pattern the name, the tag, the regular expression or, for {@link Kind#VALUE} and {@link
 *     Kind#ATTRIBUTE}, the name of the attribute
 * @param regex of {@link Kind#REGEX} alone; found anywhere in the name, as in filters
 * @param value of {@link Kind#VALUE} alone: what the attribute must be, as text
 * @param limits slots by the name of the resource; of {@link Kind#ATTRIBUTE} the name alone counts,
 *     and the number is 0
 * @param path of the entry in its document, for problems
 */
public record NodeLimitRule(
    int level,
    Kind kind,
    String pattern,
    @Nullable Pattern regex,
    @Nullable String value,
    Map<String, Integer> limits,
    String path) {
  private static final int LONG_DIGITS = 19;

  /** How nodes are chosen. */
  public enum Kind {
    NAME,
    TAG,
    REGEX,
    /** Nodes of which an attribute, as their source delivers it, has a value. */
    VALUE,
    /** Nodes that have an attribute: it holds the limit. */
    ATTRIBUTE
  }

  public NodeLimitRule {
    limits = Map.copyOf(limits);
  }

  /** By the name of a node. */
  public static NodeLimitRule ofName(int level, String name, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.NAME, name, null, null, limits, "");
  }

  /** By a tag. */
  public static NodeLimitRule ofTag(int level, String tag, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.TAG, tag, null, null, limits, "");
  }

  /** By a regular expression that is found in the name. */
  public static NodeLimitRule ofRegex(int level, Pattern regex, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.REGEX, regex.pattern(), regex, null, limits, "");
  }

  /** By the value of an attribute. */
  public static NodeLimitRule ofValue(
      int level, String attribute, String value, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.VALUE, attribute, null, value, limits, "");
  }

  /** The attribute is the limit. */
  public static NodeLimitRule ofAttribute(int level, String attribute, String resource) {
    return new NodeLimitRule(level, Kind.ATTRIBUTE, attribute, null, null, Map.of(resource, 0), "");
  }

  /** How the value of an attribute is compared: a string by its text, all else as it is written. */
  public static String text(Json value) {
    if (value instanceof Json.Num number
        && number.value().scale() == 0
        && number.value().precision() < LONG_DIGITS) {
      return Long.toString(number.value().longValue());
    }
    return value instanceof Json.Str string ? string.value() : JsonWriter.compact(value);
  }

  /** The same, found at another place of a document. */
  public NodeLimitRule at(String newPath) {
    return new NodeLimitRule(level, kind, pattern, regex, value, limits, newPath);
  }

  /**
   * Whether it is meant for a worker, which goes by its address, its host and its shard.
   *
   * @param steps of this rule
   */
  boolean matchesWorker(String address, String host, String shard, FilterSteps steps) {
    return switch (kind) {
      case NAME -> pattern.equals(address) || pattern.equals(host) || pattern.equals(shard);
      case REGEX -> regex != null && (steps.finds(regex, host) || steps.finds(regex, shard));
      case TAG, VALUE, ATTRIBUTE -> false;
    };
  }

  /** Patterns of one text are the same. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NodeLimitRule o
        && level == o.level
        && kind == o.kind
        && pattern.equals(o.pattern)
        && Objects.equals(value, o.value)
        && limits.equals(o.limits)
        && path.equals(o.path);
  }

  @Override
  public int hashCode() {
    return Objects.hash(level, kind, pattern, value, limits, path);
  }
}
