package io.espalier.core.config;

import java.time.Duration;
import java.util.Optional;

/** {@code reserve_after_sec} of a job or the settings. */
final class ReserveAfterParser {
  static final String KEY = "reserve_after_sec";

  private ReserveAfterParser() {}

  /** {@code false}: never. */
  static Optional<Duration> read(Fields in, Optional<Duration> inherited) {
    Value value = in.find(KEY);
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    Double seconds = value.number(0, SettingsParser.LONGEST_SECONDS);
    return seconds == null ? inherited : Optional.of(Value.millis(seconds));
  }
}
