package io.espalier.webui.fleet.poll;

import org.jspecify.annotations.Nullable;

/**
 * The state of one scheduler.
 *
 * @param detail why it did not answer, for people; else empty
 * @param triedAtMillis when it was last queried; 0: never
 * @param answeredAtMillis when the summary arrived; 0: never
 * @param tookMillis how long that took
 * @param failures consecutive failures since its last answer
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
  /** Creates the view of a scheduler that was not queried yet. */
  public static FleetSchedulerView waiting(SchedulerAddress address) {
    return new FleetSchedulerView(address, FleetSchedulerState.WAITING, "", 0, 0, 0, 0, null);
  }

  public String id() {
    return address.id();
  }
}
