package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.anyOf;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The types of options of jobs that have several forms. */
final class OptionTypes {
  static final long LAST_SECOND_OF_9999 = 253_402_300_799L;

  private static final String INSTANT =
      "expected an instant such as \"2026-11-22T06:00:00Z\" or \"2026-11-22T07:00:00+01:00\","
          + " or seconds since 1970";
  private static final int LONGEST_WINDOW_DAYS = 366;
  private static final long LONGEST_WINDOW = LONGEST_WINDOW_DAYS * 86_400L;
  private static final Pattern SPAN = Pattern.compile("([0-9]{1,9})([smhd]?)");
  private static final Map<String, Integer> UNITS =
      Map.of("", 1, "s", 1, "m", 60, "h", 3600, "d", 86_400);
  private static final int MOST_PATTERNS = 100;

  private OptionTypes() {}

  static Json seconds(Duration time) {
    return Json.of(time.toMillis() / 1000.0);
  }

  /** Seconds after which orphans are killed: false or negative means never, true means at once. */
  static ValueType<Optional<Duration>> killOrphans() {
    return ValueType.of(
        value -> {
          if (value.json() instanceof Json.Bool bool) {
            return Optional.ofNullable(bool.value() ? Duration.ZERO : null);
          }
          if (!(value.json() instanceof Json.Num)) {
            value.wrongKind("true, false or a number of seconds");
            return null;
          }
          Double seconds = value.number(-Double.MAX_VALUE, ConfigValue.LONGEST_SECONDS);
          return seconds == null
              ? null
              : Optional.ofNullable(seconds < 0 ? null : ConfigValue.millis(seconds));
        },
        after -> after.map(OptionTypes::seconds).orElse(Json.Bool.FALSE),
        "seconds or truth value",
        "{'type': ['boolean', 'number'], 'maximum': 1000000000}");
  }

  static ValueType<Instant> instant() {
    return ValueType.of(
        value ->
            value.json() instanceof Json.Str text
                ? parsed(value, text.value())
                : value.json() instanceof Json.Num ? ofSeconds(value) : wrong(value, null),
        instant -> Json.of(instant.toString()),
        "instant, epoch seconds",
        anyOf(
            "{'type': 'string', 'pattern': '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}"
                + "(:[0-9]{2}(\\\\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}(:[0-9]{2}(:[0-9]{2})?)?)$'}",
            "{'type': 'number', 'minimum': 0, 'maximum': " + LAST_SECOND_OF_9999 + "}"));
  }

  private static @Nullable Instant ofSeconds(ConfigValue value) {
    Double seconds = value.number(0, LAST_SECOND_OF_9999);
    return seconds == null
        ? null
        : Instant.ofEpochMilli(
            BigDecimal.valueOf(seconds).movePointRight(3).toBigInteger().longValueExact());
  }

  private static @Nullable Instant parsed(ConfigValue value, String text) {
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      boolean inRange =
          instant.getEpochSecond() >= 0 && instant.getEpochSecond() <= LAST_SECOND_OF_9999;
      return inRange ? instant : wrong(value, "years go from 1970 to 9999");
    } catch (DateTimeException e) {
      boolean noOffset = text.matches("\\d{4}-\\d\\d-\\d\\d([T ][\\d:.]*)?");
      return wrong(value, noOffset ? "say which time zone: end it with \"Z\" or \"+01:00\"" : null);
    }
  }

  private static @Nullable Instant wrong(ConfigValue value, @Nullable String hint) {
    value.error(INSTANT, hint);
    return null;
  }

  /** {@code window} of {@code fail_job_when}. */
  static ValueType<Duration> window() {
    return span(1);
  }

  /** A span of time of at least so many seconds. */
  static ValueType<Duration> span(int least) {
    return ValueType.of(
        value -> readSpan(value, least),
        OptionTypes::seconds,
        "seconds, or `90s`, `15m`, `1h`, `2d`",
        anyOf(
            "{'type': 'number', 'minimum': " + least + ", 'maximum': " + LONGEST_WINDOW + "}",
            "{'type': 'string', 'pattern': '^[0-9]{1,9}[smhd]?$'}"));
  }

  private static @Nullable Duration readSpan(ConfigValue value, int least) {
    if (!(value.json() instanceof Json.Str text)) {
      Double seconds = value.number(least, LONGEST_WINDOW);
      return seconds == null ? null : ConfigValue.millis(seconds);
    }
    Matcher span = SPAN.matcher(text.value());
    if (span.matches()) {
      long seconds = Long.parseLong(span.group(1)) * UNITS.getOrDefault(span.group(2), 1);
      if (seconds >= least && seconds <= LONGEST_WINDOW) {
        return Duration.ofSeconds(seconds);
      }
    }
    value.error(
        "expected seconds, or a span of time such as \"90s\", \"15m\", \"1h\" or \"2d\", of at"
            + " most "
            + LONGEST_WINDOW_DAYS
            + " days",
        null);
    return null;
  }

  /** Patterns, which are added to the inherited ones. */
  static ValueType<List<String>> redact() {
    ValueType<String> item =
        ValueType.regex()
            .checked(
                pattern -> !pattern.matcher("").find(),
                "the regular expression finds the empty text, so it would hide nothing")
            .as(Pattern::pattern, Pattern::compile);
    return new ValueType<>(
        (value, base) -> {
          List<ConfigValue> items = value.items();
          if (items == null) {
            return null;
          }
          Set<String> patterns = new LinkedHashSet<>(base);
          for (ConfigValue each : items) {
            String pattern = item.reader().read(each, "x");
            if (pattern != null) {
              patterns.add(pattern);
            }
          }
          if (patterns.size() > MOST_PATTERNS) {
            value.error("more than " + MOST_PATTERNS + " patterns slow down every line", null);
            return null;
          }
          return List.copyOf(patterns);
        },
        (patterns, inherited, names) -> Json.strings(patterns),
        "list of regular expressions",
        "{'type': 'array', 'maxItems': " + MOST_PATTERNS + ", 'items': " + item.schema() + "}");
  }

  /** Argv of a process. */
  static ValueType<List<String>> command() {
    ValueType<String> argument =
        text()
            .checked(
                each -> each.indexOf('\0') < 0, "an argument must not hold the character U+0000");
    return ValueType.of(
        value -> {
          List<ConfigValue> items = value.items();
          if (items == null) {
            return null;
          }
          List<String> command = new ArrayList<>();
          for (ConfigValue item : items) {
            String each = argument.reader().read(item, "");
            if (each != null && each.isEmpty() && command.isEmpty()) {
              item.error("expected the path of a program", null);
            } else if (each != null) {
              command.add(each);
            }
          }
          return command;
        },
        Json::strings,
        "list",
        "{'type': 'array', 'prefixItems': [{'not': {'const': ''}}], 'allOf': [{'items': "
            + ValueType.anyOf(
                "{'type': 'string', 'pattern': '^[^\\\\u0000]*$'}", "{'type': 'number'}")
            + "}]}");
  }
}
