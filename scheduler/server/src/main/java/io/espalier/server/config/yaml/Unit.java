package io.espalier.server.config.yaml;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.json.JsonReader;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the number of a key counts, which YAML writes behind it: {@code 90s}, {@code 10%}. */
enum Unit {
  NONE,
  SECONDS,
  MILLIS,
  /** A share as a number from 0 to 100. */
  PERCENT,
  /** A share as a number from 0 to 1. */
  FRACTION;

  static final Pattern TIME = Pattern.compile("([+-]?[0-9]{1,18}(?:\\.[0-9]{1,18})?)(ms|s|m|h|d)");
  static final Pattern SHARE = Pattern.compile("([+-]?[0-9]{1,18}(?:\\.[0-9]{1,18})?) ?%");
  private static final Pattern NUMBER =
      Pattern.compile("\\s*[+-]?[0-9]{1,18}(\\.[0-9]{0,18})?([eE][+-]?[0-9]{1,2})?\\s*");
  private static final BigDecimal THOUSAND = BigDecimal.valueOf(1000);

  /** Milliseconds of the units, the longest first. */
  private static final List<Map.Entry<String, BigDecimal>> TIMES =
      List.of(
          Map.entry("d", BigDecimal.valueOf(86_400_000)),
          Map.entry("h", BigDecimal.valueOf(3_600_000)),
          Map.entry("m", BigDecimal.valueOf(60_000)),
          Map.entry("s", THOUSAND),
          Map.entry("ms", BigDecimal.ONE));

  /** Words that keys with a unit take in place of a number. */
  private static final Set<String> WORDS = Set.of("repeat", "fail", "never", "true", "false");

  /** Returns what a value with this unit is. */
  String what() {
    return isTime() ? "time" : "share";
  }

  /** Returns the name of the unit of the plain number. */
  String whole() {
    return this == SECONDS ? "seconds" : this == MILLIS ? "milliseconds" : "per cent";
  }

  /** Returns a bound of a range with its unit. */
  String bound(String number) {
    if (number.equals("0")) {
      return isTime() ? "0s" : "0%";
    }
    return JsonReader.parse(number).value() instanceof Json.Num bound
            && write(bound) instanceof Json.Str written
        ? written.value()
        : number;
  }

  private boolean isTime() {
    return this == SECONDS || this == MILLIS;
  }

  /**
   * Returns a scalar as the plain number; what has no number stays as it is. Null, with an error,
   * when the unit is missing or wrong.
   */
  @Nullable Json read(Json scalar, ProblemPath path, Problems problems) {
    if (this == NONE) {
      return scalar;
    }
    if (scalar instanceof Json.Num number) {
      if (number.value().signum() == 0) {
        return scalar;
      }
      problems.error(
          path,
          scalar,
          isTime() ? "a time needs a unit" : "a share needs a per cent sign",
          isTime()
              ? "write \"" + number + "s\" if seconds are meant; there are ms, s, m, h, d"
              : "write \"" + percent(number.value()) + "\"");
      return null;
    }
    if (!(scalar instanceof Json.Str text) || WORDS.contains(text.value())) {
      return scalar;
    }
    BigDecimal value = isTime() ? time(text.value()) : share(text.value());
    if (value == null) {
      problems.error(
          path,
          scalar,
          "this is not a " + what(),
          isTime()
              ? "write a number and a unit, such as 500ms, 90s, 15m, 2h or 1d"
              : "write a number and a per cent sign, such as 10%");
      return null;
    }
    if (this == FRACTION && (value.signum() < 0 || value.compareTo(BigDecimal.ONE) > 0)) {
      problems.error(path, scalar, "expected a share from 0% to 100%", null);
      return null;
    }
    return new Json.Num(trimmed(value), scalar.at());
  }

  private @Nullable BigDecimal time(String text) {
    Matcher matcher = TIME.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    BigDecimal millis = new BigDecimal(matcher.group(1)).multiply(millisOf(matcher.group(2)));
    return this == MILLIS ? millis : millis.movePointLeft(3);
  }

  private static BigDecimal millisOf(String unit) {
    return TIMES.stream()
        .filter(each -> each.getKey().equals(unit))
        .findFirst()
        .map(Map.Entry::getValue)
        .orElseThrow();
  }

  private @Nullable BigDecimal share(String text) {
    Matcher matcher = SHARE.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    BigDecimal percent = new BigDecimal(matcher.group(1));
    return this == PERCENT ? percent : percent.movePointLeft(2);
  }

  /** Returns a scalar with its unit: the inverse of {@link #read}. */
  Json write(Json scalar) {
    BigDecimal value =
        scalar instanceof Json.Num number
            ? number.value()
            : scalar instanceof Json.Str text && NUMBER.matcher(text.value()).matches()
                ? new BigDecimal(text.value().strip())
                : null;
    if (value == null && this == SECONDS && scalar instanceof Json.Str text) {
      value = time(text.value());
    }
    if (this == NONE || value == null || value.signum() == 0) {
      return scalar;
    }
    return Json.of(
        switch (this) {
          case SECONDS -> written(value.multiply(THOUSAND));
          case MILLIS -> written(value);
          default -> percent(value);
        });
  }

  private String percent(BigDecimal share) {
    return plain(this == PERCENT ? share : share.movePointRight(2)) + "%";
  }

  private static String written(BigDecimal millis) {
    for (Map.Entry<String, BigDecimal> unit : TIMES) {
      if (millis.remainder(unit.getValue()).signum() == 0) {
        return plain(millis.divide(unit.getValue())) + unit.getKey();
      }
    }
    return plain(millis) + "ms";
  }

  private static String plain(BigDecimal value) {
    return JsonWriter.compact(new Json.Num(trimmed(value)));
  }

  /** More zeros than any number that means something has. */
  private static final int LARGEST_SCALE = 40;

  private static BigDecimal trimmed(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 && stripped.scale() >= -LARGEST_SCALE
        ? stripped.setScale(0)
        : stripped;
  }
}
