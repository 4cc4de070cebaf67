package io.espalier.nodes.cron;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A set of chosen whole numbers between two bounds: single ones, or a range with a stride
 * (docs/design/bistro.md#crontab-items). The stride restarts at the range's start in each cycle.
 * Immutable.
 */
final class Selector {
  private static final Pattern DIGITS = Pattern.compile("[+-]?[0-9]{1,18}");
  private static final List<String> KEYS = List.of("start", "end", "period");

  private final Bounds bounds;

  /** Sorted; empty: the range applies. */
  private final long[] listed;

  private final long start;
  private final long end;
  private final long period;

  /**
   * The numbers that a selector can choose.
   *
   * @param aliases other words for numbers, in lower case
   */
  record Bounds(long min, long max, Map<String, Long> aliases) {
    Bounds {
      aliases = Map.copyOf(aliases);
    }

    Selector all() {
      return new Selector(this, new long[0], min, max, 1);
    }

    /**
     * Returns the longest stride (docs/design/bistro.md#crontab-items): one less than the
     * difference of the bounds.
     */
    long longestPeriod() {
      return max - min - 1;
    }
  }

  /**
   * The next chosen number.
   *
   * @param carry true when the end was passed, so that the value is the first of the next cycle
   */
  record Match(long value, boolean carry) {}

  private Selector(Bounds bounds, long[] listed, long start, long end, long period) {
    this.bounds = bounds;
    this.listed = listed;
    this.start = start;
    this.end = end;
    this.period = period;
  }

  Match next(long from) {
    if (listed.length > 0) {
      for (long value : listed) {
        if (value >= from) {
          return new Match(value, false);
        }
      }
      return new Match(listed[0], true);
    }
    if (from <= start) {
      return new Match(start, false);
    }
    long value = from + (period - (from - start) % period) % period;
    return value > end ? new Match(start, true) : new Match(value, false);
  }

  /** Returns {@code *}, {@code 2,4,5}, {@code 3-7}, {@code 3-7:2}. */
  @Override
  public String toString() {
    if (listed.length > 0) {
      StringBuilder out = new StringBuilder();
      for (long value : listed) {
        out.append(out.length() == 0 ? "" : ",").append(value);
      }
      return out.toString();
    }
    if (start == bounds.min && end == bounds.max && period == 1) {
      return "*";
    }
    return start + "-" + end + (period == 1 ? "" : ":" + period);
  }

  /** Reads a selector; a missing value, an empty list and an empty object choose everything. */
  static Selector read(@Nullable Json value, Place place, Bounds bounds) {
    if (value == null) {
      return bounds.all();
    }
    if (value instanceof Json.Obj object) {
      return range(object, place, bounds);
    }
    if (value instanceof Json.Arr list) {
      long[] values = new long[list.items().size()];
      boolean good = true;
      for (int i = 0; i < values.length; i++) {
        Long number = number(list.items().get(i), place.index(i), bounds);
        good &= number != null;
        values[i] = number == null ? 0 : number;
      }
      return good ? of(bounds, values) : bounds.all();
    }
    Long number = number(value, place, bounds);
    return number == null ? bounds.all() : of(bounds, number);
  }

  private static Selector of(Bounds bounds, long... values) {
    long[] sorted = Arrays.stream(values).sorted().distinct().toArray();
    return new Selector(bounds, sorted, bounds.min, bounds.max, 1);
  }

  private static Selector range(Json.Obj object, Place place, Bounds bounds) {
    place.unknownKeys(object, KEYS);
    Json startAt = object.get("start");
    Json endAt = object.get("end");
    Json periodAt = object.get("period");
    Long start =
        startAt == null ? Long.valueOf(bounds.min) : number(startAt, place.key("start"), bounds);
    Long end = endAt == null ? Long.valueOf(bounds.max) : number(endAt, place.key("end"), bounds);
    Long period =
        periodAt == null ? Long.valueOf(1) : period(periodAt, place.key("period"), bounds);
    if (start == null || end == null || period == null) {
      return bounds.all();
    }
    if (start > end) {
      place.error(object, "the start " + start + " is after the end " + end, "swap them");
      return bounds.all();
    }
    return new Selector(bounds, new long[0], start, end, period);
  }

  private static @Nullable Long period(Json value, Place place, Bounds bounds) {
    Long period = whole(value);
    if (period == null
        && value instanceof Json.Str text
        && DIGITS.matcher(text.value()).matches()) {
      period = Long.valueOf(text.value());
    }
    if (period == null || period < 1 || period > bounds.longestPeriod()) {
      String expected = "a whole number from 1 to " + bounds.longestPeriod();
      place.error(value, "expected " + expected + " as period", null);
      return null;
    }
    return period;
  }

  private static @Nullable Long number(Json value, Place place, Bounds bounds) {
    if (value instanceof Json.Str text) {
      Long number = bounds.aliases.get(text.value().toLowerCase(Locale.ROOT));
      if (number == null) {
        List<String> names = new ArrayList<>(bounds.aliases.keySet());
        names.sort(null);
        place.error(
            value,
            names.isEmpty()
                ? "expected a whole number from "
                    + bounds.min
                    + " to "
                    + bounds.max
                    + ", not a name"
                : "unknown name: write it in full, or its first three letters",
            names.isEmpty()
                ? null
                : Suggestions.hint(text.value().toLowerCase(Locale.ROOT), names));
      }
      return number;
    }
    Long number = whole(value);
    if (number == null || number < bounds.min || number > bounds.max) {
      String kind = value instanceof Json.Num ? "" : ", not " + value.kind();
      place.error(
          value, "expected a whole number from " + bounds.min + " to " + bounds.max + kind, null);
      return null;
    }
    return number;
  }

  private static @Nullable Long whole(Json value) {
    try {
      return value instanceof Json.Num number ? (Long) number.value().longValueExact() : null;
    } catch (ArithmeticException e) {
      return null;
    }
  }
}
