package io.espalier.core.config.keys;

import static io.espalier.core.config.keys.ValueType.anyOf;
import static io.espalier.core.config.keys.ValueType.bool;
import static io.espalier.core.config.keys.ValueType.text;

import io.espalier.core.config.StartRate;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.config.label.LabelSyntaxException;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.OutcomeRules;
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

  private static final String BACKOFF =
      "expected rising whole numbers of seconds, then \"repeat\" or \"fail\"";
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

  /** {@code backoff}: rising seconds, then what happens when they are used up. */
  static ValueType<Backoff> backoff() {
    return ValueType.of(
        OptionTypes::readBackoff,
        backoff -> {
          List<Json> items = new ArrayList<>();
          backoff.seconds().forEach(second -> items.add(Json.of(second)));
          items.add(Json.of(backoff.repeats() ? "repeat" : "fail"));
          return new Json.Arr(items);
        },
        "list",
        "{'type': 'array', 'minItems': 1, 'prefixItems': [{'not': {'const': 'repeat'}}], 'allOf':"
            + " [{'items': "
            + anyOf(
                "{'type': 'integer', 'minimum': 1, 'maximum': 2147483647}",
                "{'enum': ['repeat', 'fail']}")
            + "}]}");
  }

  private static @Nullable Backoff readBackoff(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; " + BACKOFF, null);
      return null;
    }
    List<Integer> seconds = new ArrayList<>();
    boolean good = true;
    for (int i = 0; i < items.size(); i++) {
      ConfigValue item = items.get(i);
      if (item.json() instanceof Json.Str word) {
        if (i + 1 < items.size()) {
          items.get(i + 1).warning("what follows \"" + word.value() + "\" is ignored", null);
        }
        return good ? ended(item, word.value(), seconds) : null;
      }
      good &= item.json() instanceof Json.Num ? addTo(seconds, item) : wrongItem(item);
    }
    return good ? new Backoff(seconds, false) : null;
  }

  private static boolean addTo(List<Integer> seconds, ConfigValue item) {
    Long second = item.integer(1, ValueType.MAX);
    if (second == null) {
      return false;
    }
    if (!seconds.isEmpty() && second <= seconds.get(seconds.size() - 1)) {
      item.error("the numbers must rise", null);
      return false;
    }
    return seconds.add(second.intValue());
  }

  private static @Nullable Backoff ended(ConfigValue item, String word, List<Integer> seconds) {
    boolean repeats = word.equals("repeat");
    if (!repeats && !word.equals("fail")) {
      wrongItem(item);
      return null;
    }
    if (repeats && seconds.isEmpty()) {
      item.error("there is no number to repeat", null);
      return null;
    }
    return new Backoff(seconds, repeats);
  }

  private static boolean wrongItem(ConfigValue item) {
    item.error(BACKOFF, item.didYouMean(List.of("repeat", "fail")));
    return false;
  }

  /** Waits of {@code retry}, which must not fall. */
  static ValueType<List<Integer>> waits() {
    return ValueType.of(
        OptionTypes::readWaits,
        waits -> new Json.Arr(waits.stream().<Json>map(wait -> Json.of(wait)).toList()),
        "list of integers, 0 or more",
        "{'type': 'array', 'minItems': 1, 'items': " + ValueType.int32(0).schema() + "}");
  }

  private static @Nullable List<Integer> readWaits(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; expected whole numbers of seconds", null);
      return null;
    }
    List<Integer> waits = new ArrayList<>();
    long before = 0;
    for (ConfigValue item : items) {
      Long seconds = item.integer(0, ValueType.MAX);
      if (seconds != null && seconds < before) {
        item.error("the numbers must not fall", null);
      } else if (seconds != null) {
        waits.add(seconds.intValue());
        before = seconds;
      }
    }
    return waits.size() == items.size() ? waits : null;
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

  /** A percentage of an object, {@code false} for the usual one, or "never". */
  static ValueType<Double> succeedWhen(Section<Double> section) {
    double usual = section.usual();
    return new ValueType<>(
        (value, base) -> {
          if (value.isFalse()) {
            return usual;
          }
          if (!(value.json() instanceof Json.Str word)) {
            return section.read(value, base);
          }
          if (!word.value().equals("never")) {
            value.error(
                "expected an object with \"done_pct\", false, or \"never\"",
                "\"never\" is for a job that is to stay open whatever is done");
          }
          return OutcomeRules.NEVER;
        },
        (percent, inherited, names) ->
            percent == OutcomeRules.NEVER
                ? Json.of("never")
                : percent == usual ? Json.Bool.FALSE : section.write(percent, percent, names),
        "object, `\"never\"` or `false`",
        anyOf(section.type().schema(), "{'enum': [false, 'never']}"));
  }

  /** A number of starts per second, or an object that has a burst, too. */
  static ValueType<StartRate> startRate(Section<StartRate> section, ValueType<Double> perSecond) {
    return new ValueType<>(
        (value, base) -> {
          if (value.json() instanceof Json.Num || value.json() instanceof Json.Str) {
            Double rate = perSecond.reader().read(value, 1.0);
            return rate == null ? null : StartRate.of(rate);
          }
          if (value.json() instanceof Json.Obj) {
            return section.read(value, base);
          }
          value.wrongKind(
              "false, a number of starts per second, or an object with \"per_second\" and"
                  + " \"burst\"");
          return null;
        },
        section::write,
        "object, number",
        anyOf(perSecond.schema(), section.type().schema()));
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

  /** A condition on labels of workers. */
  static ValueType<LabelExpression> labels() {
    return ValueType.of(
        value -> {
          String text = value.text();
          if (text == null) {
            return null;
          }
          try {
            return text.isEmpty() ? LabelExpression.ANY : LabelExpression.parse(text);
          } catch (LabelSyntaxException e) {
            value.error("not a condition on labels: " + e.getMessage(), e.hint());
            return null;
          }
        },
        labels -> Json.of(labels.toString()),
        "condition",
        "{'type': 'string', 'maxLength': " + LabelExpression.LONGEST + "}");
  }
}
