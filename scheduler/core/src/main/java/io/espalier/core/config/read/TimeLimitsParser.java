package io.espalier.core.config.read;

import io.espalier.core.config.TimeLimits;
import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses {@code timeout_sec}, {@code complete_by} and {@code no_output_timeout_sec}. */
final class TimeLimitsParser {
  private static final double SHORTEST_SECONDS = 0.001;
  private static final String INSTANT =
      "expected an instant such as \"2026-11-22T06:00:00Z\" or \"2026-11-22T07:00:00+01:00\","
          + " or seconds since 1970";

  private TimeLimitsParser() {}

  static TimeLimits read(ConfigObject in, TimeLimits inherited) {
    TimeLimits durations = readDurations(in, inherited);
    return new TimeLimits(
        durations.timeout(), completeBy(in, inherited.completeBy()), durations.noOutput());
  }

  /** Parses the limits that the settings may contain too. */
  static TimeLimits readDurations(ConfigObject in, TimeLimits inherited) {
    Optional<Duration> timeout = duration(in, "timeout_sec", inherited.timeout());
    Optional<Duration> noOutput = duration(in, "no_output_timeout_sec", inherited.noOutput());
    ConfigValue value = in.find("no_output_timeout_sec");
    if (value != null
        && timeout.isPresent()
        && noOutput.isPresent()
        && noOutput.get().compareTo(timeout.get()) >= 0) {
      value.warning("this never happens, because \"timeout_sec\" is not longer", null);
    }
    return new TimeLimits(timeout, inherited.completeBy(), noOutput);
  }

  private static Optional<Duration> duration(
      ConfigObject in, String key, Optional<Duration> inherited) {
    ConfigValue value = in.find(key);
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    Double seconds = value.number(SHORTEST_SECONDS, ConfigValue.LONGEST_SECONDS);
    return seconds == null ? inherited : Optional.of(ConfigValue.millis(seconds));
  }

  private static Optional<Instant> completeBy(ConfigObject in, Optional<Instant> inherited) {
    ConfigValue value = in.find("complete_by");
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    Instant instant =
        value.json() instanceof Json.Str text
            ? parsed(value, text.value())
            : value.json() instanceof Json.Num ? ofSeconds(value) : wrong(value, null);
    return instant == null ? inherited : Optional.of(instant);
  }

  private static @Nullable Instant ofSeconds(ConfigValue value) {
    Double seconds = value.number(0, SettingsParser.LAST_SECOND_OF_9999);
    return seconds == null
        ? null
        : Instant.ofEpochMilli(
            BigDecimal.valueOf(seconds).movePointRight(3).toBigInteger().longValueExact());
  }

  private static @Nullable Instant parsed(ConfigValue value, String text) {
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      boolean inRange =
          instant.getEpochSecond() >= 0
              && instant.getEpochSecond() <= SettingsParser.LAST_SECOND_OF_9999;
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
}
