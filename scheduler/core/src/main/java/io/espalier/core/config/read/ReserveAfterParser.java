package io.espalier.core.config.read;

import java.time.Duration;
import java.util.Optional;

/** Parses {@code reserve_after_sec} of a job or the settings. */
public final class ReserveAfterParser {
  public static final String KEY = "reserve_after_sec";

  private ReserveAfterParser() {}

  /** Parses the value; {@code false} means never. */
  static Optional<Duration> read(ConfigObject in, Optional<Duration> inherited) {
    ConfigValue value = in.find(KEY);
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    Double seconds = value.number(0, ConfigValue.LONGEST_SECONDS);
    return seconds == null ? inherited : Optional.of(ConfigValue.millis(seconds));
  }
}
