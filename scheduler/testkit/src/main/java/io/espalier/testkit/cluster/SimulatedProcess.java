package io.espalier.testkit.cluster;

import java.util.ArrayDeque;

/**
 * A process that may be stopped for a while (SIGSTOP, garbage collection) or killed. Inputs that
 * arrive while it is stopped wait and are handled in order when it continues.
 */
class SimulatedProcess {
  final String name;
  final SimulatedCluster cluster;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean up;
  private long incarnation;
  private long stoppedUntil = Long.MIN_VALUE;
  private boolean draining;

  SimulatedProcess(SimulatedCluster cluster, String name) {
    this.cluster = cluster;
    this.name = name;
  }

  boolean isUp() {
    return up;
  }

  void begin() {
    up = true;
    incarnation++;
    stoppedUntil = Long.MIN_VALUE;
  }

  /** Ends at once; waiting inputs are lost. */
  void crash() {
    up = false;
    incarnation++;
    waiting.clear();
  }

  boolean isStopped() {
    return up && cluster.now() < stoppedUntil;
  }

  /** Stops all its threads. */
  void stop(long millis) {
    if (up) {
      stoppedUntil = Math.max(stoppedUntil, cluster.now() + millis);
      cluster.timeline.at(stoppedUntil, this::goOn);
    }
  }

  void goOn(boolean now) {
    if (now) {
      stoppedUntil = Long.MIN_VALUE;
    }
    goOn();
  }

  private void goOn() {
    if (draining) {
      return;
    }
    draining = true;
    while (up && !isStopped() && !waiting.isEmpty()) {
      waiting.remove().run();
    }
    draining = false;
  }

  /** Handles an input. */
  void handle(Runnable input) {
    if (!up) {
      return;
    }
    if (isStopped() || !waiting.isEmpty()) {
      waiting.add(input);
      return;
    }
    input.run();
  }

  /** Handles an input later, if this same process still exists. */
  void later(long delay, Runnable input) {
    long mine = incarnation;
    cluster.timeline.after(
        delay,
        () -> {
          if (incarnation == mine) {
            handle(input);
          }
        });
  }
}
