package io.espalier.server.process;

import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogRetention;
import io.espalier.core.logs.Redactor;
import java.util.List;

/**
 * What is kept of the output of tasks, where their job says nothing else.
 *
 * @param retentionDays 0: for ever
 * @param maxMb of all jobs together, on the disk; 0: no bound
 * @param redactCommon whether common secrets are hidden
 */
public record LogRetentionOptions(int retentionDays, long maxMb, boolean redactCommon) {
  public static final LogRetentionOptions DEFAULT = new LogRetentionOptions(30, 10_240, true);

  private static final long DAY_MILLIS = 86_400_000;

  /** The policy of jobs that say nothing. */
  public LogPolicy policy() {
    return new LogPolicy(
        new LogRetention(retentionDays * DAY_MILLIS, maxMb << 20),
        redactCommon ? List.of(Redactor.COMMON_SECRETS) : List.of());
  }

  /** As flags. */
  String shown() {
    return "--log-retention-days="
        + retentionDays
        + " --log-max-mb="
        + maxMb
        + " --log-redact-common="
        + redactCommon;
  }
}
