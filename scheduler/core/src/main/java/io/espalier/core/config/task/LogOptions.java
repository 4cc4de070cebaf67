package io.espalier.core.config.task;

import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Retention and redaction of the output of a job's tasks.
 *
 * @param retentionDays maximum age; empty: the default of the log store
 * @param maxMb maximum size for all tasks of the job together, beyond which the oldest lines are
 *     deleted; empty: the default of the log store
 * @param redact valid regular expressions; matches are redacted before a line is stored
 */
public record LogOptions(OptionalInt retentionDays, OptionalLong maxMb, List<String> redact) {
  public static final LogOptions DEFAULT =
      new LogOptions(OptionalInt.empty(), OptionalLong.empty(), List.of());

  public LogOptions {
    redact = List.copyOf(redact);
  }
}
