package io.espalier.core.scheduling;

/** Is told everything that is done to a core, on the thread that does it. */
@FunctionalInterface
public interface CoreEventListener {
  /** In order; must not touch the core. */
  void recorded(CoreEvent event);
}
