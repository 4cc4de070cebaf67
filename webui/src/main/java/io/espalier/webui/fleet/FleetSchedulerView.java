package io.espalier.webui.fleet;

import org.jspecify.annotations.Nullable;

/**
 * What is known of one scheduler.
 *
 * @param detail why it is not answered, for people; else empty
 * @param triedAtMillis when it was asked last; 0: never
 * @param answeredAtMillis when the summary came; 0: never
 * @param tookMillis how long that took
 * @param failures in a row since it answered
 * @param summary the latest one, however old; null when there never was one
 */
public record FleetSchedulerView(
    SchedulerAddress address,
    FleetSchedulerState state,
    String detail,
    long triedAtMillis,
    long answeredAtMillis,
    long tookMillis,
    int failures,
    @Nullable SchedulerSummary summary) {
  /** Of a scheduler that was not asked yet. */
  public static FleetSchedulerView waiting(SchedulerAddress address) {
    return new FleetSchedulerView(address, FleetSchedulerState.WAITING, "", 0, 0, 0, 0, null);
  }

  public String id() {
    return address.id();
  }
}
