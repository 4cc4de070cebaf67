package io.espalier.testkit.api;

import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.status.store.Brake;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The brakes of a {@link FakeScheduler}. Used under its lock. */
final class FakeBrakes {
  private final Map<Brake.Key, BrakeView> brakes = new LinkedHashMap<>();
  private boolean storeIsAway;
  private List<String> unconfirmed = List.of();

  /** From now on brakes are not durable when they are answered. */
  void withoutStore() {
    storeIsAway = true;
  }

  /** From now on these workers do not confirm brakes. */
  void withUnconfirmed(List<String> workers) {
    unconfirmed = workers;
  }

  /** Returns the brakes, in the order in which they were set. */
  List<BrakeView> all() {
    return List.copyOf(brakes.values());
  }

  /** Sets a brake, or replaces it. */
  BrakeView set(Command.SetBrake command, long nowMillis) {
    Brake brake = command.brake();
    BrakeView set =
        new BrakeView(
            Brake.of(brake.key(), brake.millionths())
                .ramp(brake.ramp())
                .author(brake.author())
                .reason(brake.reason())
                .sinceMillis(nowMillis)
                .untilMillis(command.millis() == 0 ? 0 : nowMillis + command.millis())
                .throttlesRunning(brake.throttlesRunning())
                .build(),
            brake.millionths(),
            !storeIsAway,
            unconfirmed);
    brakes.put(brake.key(), set);
    return set;
  }

  /** Ends a brake at once. */
  BrakeView release(Command.ReleaseBrake command, long nowMillis) {
    BrakeView released = brakes.remove(command.key());
    if (released == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no brake");
    }
    return new BrakeView(
        released.brake().withReleasedMillis(nowMillis), Brake.ONE, true, List.of());
  }
}
