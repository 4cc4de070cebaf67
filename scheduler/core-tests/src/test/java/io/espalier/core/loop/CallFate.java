package io.espalier.core.loop;

import io.espalier.core.loop.CallSimulation.Trouble;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.testkit.cluster.EventQueue;
import java.util.EnumMap;
import java.util.Map;

/**
 * The chance, the time and the trouble of one life of a {@link CallSimulation}. Faults happen for a
 * while, then no more.
 */
final class CallFate {
  private static final long FAULTS_MILLIS = 400_000;

  private final LoopWorld world;
  private final SplitMix64 random;
  private final EventQueue events = new EventQueue();
  private final EnumMap<Trouble, Integer> happened = new EnumMap<>(Trouble.class);
  private final long end;

  CallFate(long seed, LoopWorld world) {
    this.world = world;
    random = new SplitMix64(seed * 7_919);
    end = world.now + FAULTS_MILLIS;
  }

  double fraction() {
    return random.fraction();
  }

  long below(long bound) {
    return (long) (random.fraction() * bound);
  }

  /** Returns whether a fault happens, and counts it. */
  boolean happens(double chance, Trouble trouble) {
    if (isHealed() || random.fraction() >= chance) {
      return false;
    }
    count(trouble);
    return true;
  }

  void count(Trouble trouble) {
    happened.merge(trouble, 1, Integer::sum);
  }

  /** Returns how often each kind of trouble happened. */
  Map<Trouble, Integer> happened() {
    return happened;
  }

  /** Returns whether nothing fails any more. */
  boolean isHealed() {
    return world.now >= end;
  }

  long millisWithoutFaults() {
    return world.now - end;
  }

  void at(long delay, Runnable action) {
    events.at(world.now + delay, action);
  }

  boolean isEmpty() {
    return events.isEmpty();
  }

  /** Lets the time pass until the next event and runs it; returns whether there was one. */
  boolean next() {
    if (events.isEmpty()) {
      return false;
    }
    world.now = Math.max(world.now, events.nextTime());
    return events.step(world.now);
  }
}
