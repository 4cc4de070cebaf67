package io.espalier.core.loop.state;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Something that the loop does before each round and that decides what may start then, such as
 * windows, limits that follow probes, roll-outs, or the bound of starts in flight. The loop calls
 * it only while a configuration is in force. What it does not do for a configuration that does not
 * ask for it must cost nothing. For the owner of the loop.
 */
public interface RoundStep {
  /** Another configuration, or other nodes, have just come into force. */
  default void configured(long nowMillis) {}

  /**
   * Does a slice of what is due.
   *
   * @return whether there is something new to show
   */
  boolean step(long nowMillis);

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: when something happens. */
  default long nextMillis() {
    return Long.MAX_VALUE;
  }

  /** Returns whether {@link #step} must be called again at once. */
  default boolean isBehind() {
    return false;
  }

  /** Returns how many tasks may start before the next {@link #step}. */
  default int room() {
    return Integer.MAX_VALUE;
  }

  /** Returns whether work that is under way may let tasks start. */
  default boolean isOpening() {
    return isBehind();
  }

  /** Returns whether time, or what comes from outside with it, may let tasks start later. */
  default boolean mayOpen() {
    return false;
  }

  /**
   * Says what is wrong, after {@link #step} had something new to show.
   *
   * @param told takes the source of each problem, and what it is; null: it is over
   */
  default void problems(BiConsumer<String, @Nullable String> told) {}

  /** Writes its numbers. */
  default void stats(LoopStats stats) {}
}
