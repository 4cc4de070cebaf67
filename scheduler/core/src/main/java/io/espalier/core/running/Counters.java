package io.espalier.core.running;

import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What tasks count, by name: rows, bytes, and so on. Sums stop at {@link Long#MAX_VALUE}.
 * Immutable.
 *
 * @param values by name, never negative
 */
public record Counters(Map<String, Long> values) {
  /** The largest number of names of a job. */
  public static final int MOST_NAMES = 16;

  /** The largest value of one line: up to it every reader of JSON is exact. */
  public static final long MOST = 1L << 53;

  /** Nothing was counted. */
  public static final Counters NONE = new Counters(Map.of());

  private static final Pattern NAME = Pattern.compile("[a-z0-9_]{1,64}");

  public Counters {
    values = values.isEmpty() ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(values));
  }

  /** Returns why values are no counters; null: they are. */
  public static @Nullable String problem(Map<String, Long> values) {
    if (values.size() > MOST_NAMES) {
      return "has more than " + MOST_NAMES + " names";
    }
    for (Map.Entry<String, Long> value : values.entrySet()) {
      if (!NAME.matcher(value.getKey()).matches()) {
        return "has a name that is not 1 to 64 of a-z, 0-9 and _";
      }
      if (value.getValue() < 0) {
        return "has a value below 0";
      }
    }
    return null;
  }

  /**
   * What an object has under {@code count}.
   *
   * @param problem why it cannot be used; null: it can
   */
  public record Reading(Counters counters, @Nullable String problem) {
    private static Reading refused(String why) {
      return new Reading(NONE, "count " + why);
    }
  }

  /**
   * Reads what a task or its service has counted: whole numbers from 0 to {@link #MOST} by name.
   *
   * @param count null: nothing was counted
   */
  public static Reading read(@Nullable Json count) {
    if (count == null || count instanceof Json.Null) {
      return new Reading(NONE, null);
    }
    if (!(count instanceof Json.Obj object)) {
      return Reading.refused("is not an object");
    }
    if (object.members().size() > MOST_NAMES) {
      return Reading.refused("has more than " + MOST_NAMES + " names");
    }
    Map<String, Long> values = new TreeMap<>();
    for (Map.Entry<String, Json> member : object.members().entrySet()) {
      if (!(member.getValue() instanceof Json.Num number) || !isValue(number.value())) {
        return Reading.refused("has a value that is not a whole number from 0 to 2^53");
      }
      values.put(member.getKey(), number.value().longValue());
    }
    String problem = problem(values);
    return problem == null ? new Reading(new Counters(values), null) : Reading.refused(problem);
  }

  private static boolean isValue(BigDecimal value) {
    return value.signum() == 0
        || (value.signum() > 0
            && value.compareTo(BigDecimal.valueOf(MOST)) <= 0
            && value.stripTrailingZeros().scale() <= 0);
  }

  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** Returns the value of a name; 0 when it has none. */
  public long get(String name) {
    return values.getOrDefault(name, 0L);
  }

  /** Returns the sums; a sum that is too large is {@link Long#MAX_VALUE}. */
  public Counters plus(Counters more) {
    if (more.isEmpty() || isEmpty()) {
      return isEmpty() ? more : this;
    }
    TreeMap<String, Long> sums = new TreeMap<>(values);
    more.values.forEach((name, value) -> sums.merge(name, value, Counters::sum));
    return new Counters(sums);
  }

  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }

  /** Returns by how much these exceed others of the same invocation; never negative. */
  public Counters since(Counters before) {
    TreeMap<String, Long> more = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (value > before.get(name) || !before.values.containsKey(name)) {
            more.put(name, Math.max(0, value - before.get(name)));
          }
        });
    return more.isEmpty() ? NONE : new Counters(more);
  }

  /** Returns the larger of both for each name: the newer of two states of one invocation. */
  public Counters latest(Counters other) {
    if (other.isEmpty() || isEmpty()) {
      return isEmpty() ? other : this;
    }
    TreeMap<String, Long> largest = new TreeMap<>(values);
    other.values.forEach((name, value) -> largest.merge(name, value, Math::max));
    return new Counters(largest);
  }

  /**
   * Returns those that fit beside the names that others have, in their order, so that there are at
   * most {@link #MOST_NAMES} in all.
   */
  public Counters fitting(Counters others) {
    if (isEmpty() || others.values.keySet().containsAll(values.keySet())) {
      return this;
    }
    TreeMap<String, Long> fitting = new TreeMap<>();
    int room = MOST_NAMES - others.values.size();
    for (Map.Entry<String, Long> value : values.entrySet()) {
      if (others.values.containsKey(value.getKey()) || room-- > 0) {
        fitting.put(value.getKey(), value.getValue());
      }
    }
    return new Counters(fitting);
  }

  /** Returns the same names, all 0. */
  public Counters zeros() {
    TreeMap<String, Long> zeros = new TreeMap<>();
    values.keySet().forEach(name -> zeros.put(name, 0L));
    return new Counters(zeros);
  }

  /** Returns whether a sum has reached its largest value, so that it is too small. */
  public boolean isCapped() {
    return values.containsValue(Long.MAX_VALUE);
  }

  /** Returns the form for columns of stores, {@code bytes=4096 rows=1200}; empty: nothing. */
  public String text() {
    StringBuilder text = new StringBuilder();
    values.forEach(
        (name, value) ->
            text.append(text.length() == 0 ? "" : " ").append(name).append('=').append(value));
    return text.toString();
  }

  /**
   * Parses the result of {@link #text}.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static Counters ofText(String text) {
    if (text.isEmpty()) {
      return NONE;
    }
    TreeMap<String, Long> values = new TreeMap<>();
    for (String each : text.split(" ", -1)) {
      int at = each.indexOf('=');
      if (at <= 0) {
        throw new IllegalArgumentException("no counters: " + text);
      }
      values.put(each.substring(0, at), Long.parseLong(each.substring(at + 1)));
    }
    return new Counters(values);
  }

  /** Returns the form for answers, events and stored objects. */
  public Json.Obj json() {
    Json.Builder json = Json.object();
    values.forEach(json::put);
    return json.build();
  }

  /**
   * Parses the result of {@link #json}.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static Counters of(@Nullable Json json) {
    if (json == null) {
      return NONE;
    }
    TreeMap<String, Long> values = new TreeMap<>();
    if (json instanceof Json.Obj object) {
      for (Map.Entry<String, Json> member : object.members().entrySet()) {
        if (!(member.getValue() instanceof Json.Num number)) {
          throw new IllegalArgumentException("no counters: " + json);
        }
        values.put(member.getKey(), number.value().longValue());
      }
      return new Counters(values);
    }
    throw new IllegalArgumentException("no counters: " + json);
  }
}
