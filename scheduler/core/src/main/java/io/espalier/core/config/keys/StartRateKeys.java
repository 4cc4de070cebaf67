package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.anyOf;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.orFalse;

import io.espalier.core.config.StartRate;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The key {@code start_rate}: how often tasks may start. */
public final class StartRateKeys {
  /** {@code start_rate} of a job, or an entry of {@code start_rates} of the settings. */
  public static final Section<StartRate> START_RATE =
      new Section<>(
          "start_rate",
          "How often tasks may start: over any t seconds at most burst + per_second * t.",
          StartRate.of(1)) {
        private final Key<StartRate, Double> perSecond =
            key(
                    "per_second",
                    startsPerSecond(),
                    StartRate::perSecond,
                    "Starts per second, with up to six digits and nine decimals; 0.1 is one start"
                        + " in ten seconds.")
                .own()
                .required("starts per second");
        private final Key<StartRate, Integer> burst =
            key(
                    "burst",
                    int32(1, StartRate.LARGEST_BURST),
                    StartRate::burst,
                    "How many tasks may start at once after a time without starts; without it,"
                        + " `per_second`, rounded up.")
                .own();

        @Override
        public @Nullable StartRate read(ConfigObject in, StartRate base) {
          Double rate = in.read(perSecond, base);
          if (!in.has(burst)) {
            return rate == null ? null : StartRate.of(rate);
          }
          Integer most = in.read(burst, base);
          return rate == null || most == null ? null : new StartRate(rate, most);
        }
      };

  /** A rate of starts; {@code false}: no limit. */
  static final ValueType<Optional<StartRate>> RATE = orFalse(startRate(), StartRate.of(1));

  private StartRateKeys() {}

  /** A number of starts per second, or an object that has a burst, too. */
  private static ValueType<StartRate> startRate() {
    ValueType<Double> perSecond = startsPerSecond();
    return new ValueType<>(
        (value, base) -> {
          if (value.json() instanceof Json.Num || value.json() instanceof Json.Str) {
            Double rate = perSecond.reader().read(value, 1.0);
            return rate == null ? null : StartRate.of(rate);
          }
          if (value.json() instanceof Json.Obj) {
            return START_RATE.read(value, base);
          }
          value.wrongKind(
              "false, a number of starts per second, or an object with \"per_second\" and"
                  + " \"burst\"");
          return null;
        },
        START_RATE::write,
        "object, number",
        anyOf(perSecond.schema(), START_RATE.type().schema()));
  }

  private static ValueType<Double> startsPerSecond() {
    return number(StartRate.LEAST, StartRate.MOST).says("number from 0.000001 to 1000000");
  }
}
