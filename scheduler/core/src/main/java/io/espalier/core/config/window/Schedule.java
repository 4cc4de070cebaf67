package io.espalier.core.config.window;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When tasks may start: in one of the windows, if there are any, and in no freeze.
 *
 * @param windows if empty, it is always open apart from freezes
 * @param freezes the parser has checked that the zone of each is known
 */
public record Schedule(List<Window> windows, List<Freeze> freezes) {
  /** Always open. */
  public static final Schedule ALWAYS = new Schedule(List.of(), List.of());

  public Schedule {
    windows = List.copyOf(windows);
    freezes = List.copyOf(freezes);
  }

  /** Returns whether it is open at all times. */
  public boolean isAlways() {
    return windows.isEmpty() && freezes.isEmpty();
  }

  /** Returns the freeze in which an instant lies, or null. */
  public @Nullable Freeze freezeAt(long nowMillis) {
    for (Freeze freeze : freezes) {
      LocalDate day = Instant.ofEpochMilli(nowMillis).atZone(zone(freeze)).toLocalDate();
      if (!day.isBefore(freeze.from()) && !day.isAfter(freeze.to())) {
        return freeze;
      }
    }
    return null;
  }

  /** Returns the time zone in which people are told of its instants. */
  public ZoneId zone() {
    if (!windows.isEmpty()) {
      return windows.get(0).zone();
    }
    return freezes.isEmpty() ? ZoneOffset.UTC : zone(freezes.get(0));
  }

  ZoneId zone(Freeze freeze) {
    return freeze.zone().orElseGet(() -> windows.isEmpty() ? ZoneOffset.UTC : zone());
  }
}
