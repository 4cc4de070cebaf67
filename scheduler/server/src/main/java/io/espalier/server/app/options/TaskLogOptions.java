package io.espalier.server.app.options;

import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogRetention;
import io.espalier.core.logs.Redactor;
import io.espalier.server.shipping.LogAddress;
import java.util.List;
import java.util.Optional;

/**
 * Configures how much task output is kept for jobs that do not configure it themselves, and where
 * it is sent.
 *
 * @param retentionDays 0: no limit
 * @param maxMb disk space of all jobs together, in MB; 0: no limit
 * @param redactCommon whether common secrets are hidden
 * @param ship the receiver of all output; empty: it stays where it is
 */
public record TaskLogOptions(
    int retentionDays, long maxMb, boolean redactCommon, Optional<LogAddress> ship) {

  private static final long DAY_MILLIS = 86_400_000;

  /** Returns the policy of jobs without their own settings. */
  public LogPolicy policy() {
    return new LogPolicy(
        new LogRetention(retentionDays * DAY_MILLIS, maxMb << 20),
        redactCommon ? List.of(Redactor.COMMON_SECRETS) : List.of());
  }

  /** Returns these options as command-line flags. */
  public String shown() {
    return "--log-retention-days="
        + retentionDays
        + " --log-max-mb="
        + maxMb
        + " --log-redact-common="
        + redactCommon
        + " --ship-logs="
        + ship.map(LogAddress::toString).orElse("none");
  }
}
