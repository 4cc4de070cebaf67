package io.espalier.server.app.options;

import io.espalier.core.status.store.StatusStore.Retention;

/**
 * Limits how long events are kept; the bound on their number only protects the disk. The newest
 * events are always kept.
 *
 * @param retentionDays 0: no limit
 * @param max maximum number of events; 0: no limit
 */
public record EventRetentionOptions(int retentionDays, long max) {
  public static final EventRetentionOptions DEFAULT = new EventRetentionOptions(30, 50_000_000);

  private static final long DAY_MILLIS = 86_400_000;

  /** Returns the retention as of the given time. */
  public Retention retention(long nowMillis) {
    return new Retention(
        retentionDays == 0 ? Long.MIN_VALUE : nowMillis - retentionDays * DAY_MILLIS,
        max == 0 ? Long.MAX_VALUE : max);
  }

  /** Returns these options as command-line flags. */
  String shown() {
    return "--event-retention-days=" + retentionDays + " --event-log-max=" + max;
  }
}
