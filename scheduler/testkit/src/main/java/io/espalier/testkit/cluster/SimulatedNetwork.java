package io.espalier.testkit.cluster;

import java.util.Arrays;
import java.util.Random;

/** Carries messages between hosts: late, twice, out of order or not at all. */
final class SimulatedNetwork {
  private static final int LATENCY = 5;

  private final EventQueue timeline;
  private final Random random;
  private final Coverage coverage;
  private final long[][] cutUntil;
  private final long[][] lastArrival;
  private double loss;
  private double copies;
  private double delays;
  private int longest = LATENCY;

  SimulatedNetwork(EventQueue timeline, Random random, Coverage coverage, int hosts) {
    this.timeline = timeline;
    this.random = random;
    this.coverage = coverage;
    this.lastArrival = new long[hosts][hosts];
    this.cutUntil = new long[hosts][hosts];
  }

  /** Sets the current quality of the network. */
  void weather(double newLoss, double newCopies, double newDelays, int longestDelay) {
    loss = newLoss;
    copies = newCopies;
    delays = newDelays;
    longest = Math.max(LATENCY, longestDelay);
  }

  /** Drops all messages in that direction. */
  void cut(int from, int to, long until) {
    cutUntil[from][to] = Math.max(cutUntil[from][to], until);
  }

  void heal() {
    weather(0, 0, 0, LATENCY);
    for (long[] row : cutUntil) {
      Arrays.fill(row, 0);
    }
  }

  boolean isCut(int from, int to) {
    return timeline.now() < cutUntil[from][to];
  }

  void carry(int from, int to, Runnable message) {
    copy(from, to, message);
    while (copies > 0 && random.nextDouble() < copies) {
      coverage.happened(SimulationEvent.MESSAGE_COPIED);
      copy(from, to, message);
    }
  }

  private void copy(int from, int to, Runnable message) {
    if (isCut(from, to)) {
      return;
    }
    if (loss > 0 && random.nextDouble() < loss) {
      coverage.happened(SimulationEvent.MESSAGE_LOST);
      return;
    }
    boolean slow = delays > 0 && random.nextDouble() < delays;
    if (slow) {
      coverage.happened(SimulationEvent.MESSAGE_DELAYED);
    }
    long arrival = timeline.now() + 1 + random.nextInt(slow ? longest : LATENCY);
    if (arrival < lastArrival[from][to]) {
      coverage.happened(SimulationEvent.MESSAGE_OVERTAKEN);
    }
    lastArrival[from][to] = Math.max(lastArrival[from][to], arrival);
    timeline.at(arrival, message);
  }
}
