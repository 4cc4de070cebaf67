package io.espalier.core.scheduling;

/** Receives every event of a core, on the thread that calls the core. */
@FunctionalInterface
public interface CoreEventListener {
  /** Receives an event, in order. Must not call the core. */
  void recorded(CoreEvent event);
}
