package io.espalier.core.event;

import java.util.List;

/** Reads events in order. Calls may wait for the store. */
@FunctionalInterface
public interface EventReader {
  /**
   * Returns up to {@code limit} events after {@code sequence}; those that are gone are left out.
   */
  List<Event> after(long sequence, int limit);
}
