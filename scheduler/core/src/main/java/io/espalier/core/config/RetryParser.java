package io.espalier.core.config;

import java.util.Optional;

/** Reads {@code retry} of the settings or a job. */
final class RetryParser {
  private RetryParser() {}

  static Optional<RetryRules> read(Fields in, Optional<RetryRules> inherited) {
    return inherited;
  }
}
