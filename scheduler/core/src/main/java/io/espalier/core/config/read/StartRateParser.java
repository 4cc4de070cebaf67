package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.StartRate;
import io.espalier.core.json.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses {@code start_rate} of a job and {@code start_rates} of levels. */
final class StartRateParser {
  private StartRateParser() {}

  /** Parses the rate of a job; {@code false} means no limit. */
  static Optional<StartRate> ofJob(ConfigObject in) {
    ConfigValue value = in.find("start_rate");
    return value == null || value.isFalse() ? Optional.empty() : Optional.ofNullable(read(value));
  }

  /** Parses the rates by level index. */
  static Map<Integer, StartRate> ofLevels(ConfigObject in, Levels levels) {
    Map<Integer, StartRate> rates = new HashMap<>();
    ConfigValue value = in.find("start_rates");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return rates;
    }
    members.forEach(
        (name, member) -> {
          int level = levels.find(name);
          if (level < 0) {
            ConfigValue.unknownLevel(member, name, levels);
          } else if (level == levels.worker()) {
            member.error("workers are no nodes, so nothing starts below them", null);
          } else if (!member.isFalse()) {
            StartRate rate = read(member);
            if (rate != null) {
              rates.put(level, rate);
            }
          }
        });
    return rates;
  }

  private static @Nullable StartRate read(ConfigValue value) {
    if (value.json() instanceof Json.Num || value.json() instanceof Json.Str) {
      return of(value);
    }
    if (!(value.json() instanceof Json.Obj)) {
      value.error(
          "expected false, a number of starts per second, or an object with \"per_second\" and"
              + " \"burst\", found "
              + value.json().kind(),
          null);
      return null;
    }
    ConfigObject in = value.fields(ConfigSection.START_RATE);
    ConfigValue perSecond = in == null ? null : in.require("per_second", "starts per second");
    StartRate rate = perSecond == null ? null : of(perSecond);
    ConfigValue burst = in == null ? null : in.find("burst");
    if (rate == null || burst == null) {
      return rate;
    }
    Long most = burst.integer(1, StartRate.LARGEST_BURST);
    return most == null ? null : new StartRate(rate.perSecond(), Math.toIntExact(most));
  }

  private static @Nullable StartRate of(ConfigValue value) {
    Double perSecond = value.number(StartRate.LEAST, StartRate.MOST);
    return perSecond == null ? null : StartRate.of(perSecond);
  }
}
