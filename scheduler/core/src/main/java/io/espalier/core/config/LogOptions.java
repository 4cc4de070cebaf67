package io.espalier.core.config;

import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What is kept of the output of a job's tasks.
 *
 * @param retentionDays empty: as the log store does by itself
 * @param maxMb of all tasks of the job together, the oldest lines go first; empty: as the log store
 *     does by itself
 * @param redact regular expressions, valid ones: what they find is hidden before a line is stored
 */
public record LogOptions(OptionalInt retentionDays, OptionalLong maxMb, List<String> redact) {
  public static final LogOptions DEFAULT =
      new LogOptions(OptionalInt.empty(), OptionalLong.empty(), List.of());

  public LogOptions {
    redact = List.copyOf(redact);
  }
}
