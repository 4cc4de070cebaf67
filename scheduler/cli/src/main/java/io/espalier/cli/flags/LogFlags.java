package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.server.app.options.LogRetentionOptions;
import java.util.List;
import picocli.CommandLine.Option;

/** The flags for the retention of task output. */
public final class LogFlags {
  private static final int MOST_DAYS = 36_500;
  private static final long MOST_MB = 1L << 40;

  @Option(
      names = "--log-retention-days",
      paramLabel = "DAYS",
      converter = DurationConverter.Days.class,
      defaultValue = "30",
      description =
          "How long output of tasks is kept, where the job does not say (default"
              + " ${DEFAULT-VALUE}; 0: for ever).")
  private int retentionDays;

  @Option(
      names = "--log-max-mb",
      paramLabel = "MB",
      defaultValue = "10240",
      description =
          "How much disk the output of all tasks may take; the oldest goes first (default"
              + " ${DEFAULT-VALUE}; 0: no bound).")
  private long maxMb;

  @Option(
      names = "--log-redact-common",
      paramLabel = "BOOL",
      arity = "1",
      defaultValue = "true",
      description =
          "Whether common secrets (passwords, bearer tokens, AWS keys) are hidden in the output of"
              + " tasks (default ${DEFAULT-VALUE}).")
  private boolean redactCommon;

  public LogRetentionOptions keeping(List<String> problems) {
    if (retentionDays < 0 || retentionDays > MOST_DAYS) {
      problems.add("--log-retention-days must be between 0 and " + MOST_DAYS);
    }
    if (maxMb < 0 || maxMb > MOST_MB) {
      problems.add("--log-max-mb must be between 0 and " + MOST_MB);
    }
    return new LogRetentionOptions(retentionDays, maxMb, redactCommon);
  }
}
