package io.espalier.server.process;

import io.espalier.core.status.StatusStore.Retention;

/**
 * How long events are kept; the newest ones always are.
 *
 * @param retentionDays 0: for ever
 * @param max how many at most; 0: no bound
 */
public record EventRetentionOptions(int retentionDays, long max) {
  public static final EventRetentionOptions DEFAULT = new EventRetentionOptions(30, 2_000_000);

  private static final long DAY_MILLIS = 86_400_000;

  /** What that means now. */
  Retention retention(long nowMillis) {
    return new Retention(
        retentionDays == 0 ? Long.MIN_VALUE : nowMillis - retentionDays * DAY_MILLIS,
        max == 0 ? Long.MAX_VALUE : max);
  }

  /** As flags. */
  String shown() {
    return "--event-retention-days=" + retentionDays + " --event-log-max=" + max;
  }
}
