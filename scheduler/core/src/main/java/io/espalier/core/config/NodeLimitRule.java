package io.espalier.core.config;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One entry of {@code node_resources_override}: limits that differ on some nodes of a level, or on
 * some workers. For each node and resource the last matching entry applies.
 *
 * @param level index of the level
 * @param kind how nodes are selected
 * @param pattern name, tag, regular expression or, for {@link Kind#VALUE} and {@link
 *     Kind#ATTRIBUTE}, the name of the attribute
 * @param regex only for {@link Kind#REGEX}; may be found anywhere in the name, as in filters
 * @param value only for {@link Kind#VALUE}: required value of the attribute, as text
 * @param limits slots by name of the resource; for {@link Kind#ATTRIBUTE} only the name is used,
 *     and the number is 0
 * @param path path of the entry in its document, for problems
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

  /** How nodes are selected. */
  public enum Kind {
    NAME,
    TAG,
    REGEX,
    /** Nodes with a given value of an attribute, as delivered by their source. */
    VALUE,
    /** Nodes that have an attribute, whose value is the limit. */
    ATTRIBUTE
  }

  public NodeLimitRule {
    limits = Map.copyOf(limits);
  }

  /** Creates a rule for a node by name. */
  public static NodeLimitRule ofName(int level, String name, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.NAME, name, null, null, limits, "");
  }

  /** Creates a rule for nodes by tag. */
  public static NodeLimitRule ofTag(int level, String tag, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.TAG, tag, null, null, limits, "");
  }

  /** Creates a rule for nodes by a regular expression found in the name. */
  public static NodeLimitRule ofRegex(int level, Pattern regex, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.REGEX, regex.pattern(), regex, null, limits, "");
  }

  /** Creates a rule for nodes by the value of an attribute. */
  public static NodeLimitRule ofValue(
      int level, String attribute, String value, Map<String, Integer> limits) {
    return new NodeLimitRule(level, Kind.VALUE, attribute, null, value, limits, "");
  }

  /** Creates a rule that uses an attribute as the limit. */
  public static NodeLimitRule ofAttribute(int level, String attribute, String resource) {
    return new NodeLimitRule(level, Kind.ATTRIBUTE, attribute, null, null, Map.of(resource, 0), "");
  }

  /**
   * The form in which the value of an attribute is compared: the text of a string, otherwise JSON.
   */
  public static String text(Json value) {
    if (value instanceof Json.Num number
        && number.value().scale() == 0
        && number.value().precision() < LONG_DIGITS) {
      return Long.toString(number.value().longValue());
    }
    return value instanceof Json.Str string ? string.value() : JsonWriter.compact(value);
  }

  /** A copy with another path in the document. */
  public NodeLimitRule at(String newPath) {
    return new NodeLimitRule(level, kind, pattern, regex, value, limits, newPath);
  }

  /**
   * Returns true when the rule applies to a worker, which it may name by address, host or shard.
   *
   * @param steps step budget of this rule
   */
  boolean matchesWorker(String address, String host, String shard, FilterSteps steps) {
    return switch (kind) {
      case NAME -> pattern.equals(address) || pattern.equals(host) || pattern.equals(shard);
      case REGEX -> regex != null && (steps.finds(regex, host) || steps.finds(regex, shard));
      case TAG, VALUE, ATTRIBUTE -> false;
    };
  }

  /** Compares patterns by their text. */
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
