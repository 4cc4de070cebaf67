package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.server.app.options.TaskLogOptions;
import io.espalier.server.shipping.LogAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags for the output of tasks. */
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

  @Option(
      names = "--ship-logs",
      paramLabel = "ADDRESS",
      description =
          "Send all output of tasks there as JSON lines: file:///PATH, syslog://HOST:PORT, or"
              + " http[s]://... with #headers_file=FILE for a token.")
  private @Nullable String ship;

  public TaskLogOptions keeping(List<String> problems) {
    if (retentionDays < 0 || retentionDays > MOST_DAYS) {
      problems.add("--log-retention-days must be between 0 and " + MOST_DAYS);
    }
    if (maxMb < 0 || maxMb > MOST_MB) {
      problems.add("--log-max-mb must be between 0 and " + MOST_MB);
    }
    return new TaskLogOptions(retentionDays, maxMb, redactCommon, shipping(problems));
  }

  private Optional<LogAddress> shipping(List<String> problems) {
    if (ship == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(LogAddress.parse(ship));
    } catch (IllegalArgumentException e) {
      problems.add("--ship-logs " + ship + ": " + e.getMessage());
      return Optional.empty();
    }
  }
}
