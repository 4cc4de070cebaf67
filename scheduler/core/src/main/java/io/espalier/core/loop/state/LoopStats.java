package io.espalier.core.loop.state;

import io.espalier.core.api.QueueView;
import java.util.List;

/**
 * What a loop has done so far. Written by the scheduler thread alone, read by any; each number is
 * right by itself.
 */
public final class LoopStats {
  private volatile long rounds;
  private volatile long placements;
  private volatile long saturated;
  private volatile long policyFailures;
  private volatile int live;
  private volatile int chores;
  private volatile int heldJobs;
  private volatile int heldNodes;
  private volatile List<QueueView> queues = List.of();
  private volatile int reservedNodes;
  private volatile long reservedSlots;
  private volatile long idleSlotMillis;
  private long reservedAt;

  public LoopStats() {}

  /** Rounds that were run to their end: after each, nothing more could be started. */
  public long rounds() {
    return rounds;
  }

  /** Tasks that were given their slots. */
  public long placements() {
    return placements;
  }

  /** Steps in which nothing was placed because the status store was too far behind. */
  public long saturated() {
    return saturated;
  }

  /** Rounds that a policy's mistake ended. */
  public long policyFailures() {
    return policyFailures;
  }

  /** Tasks that hold slots now. */
  public int live() {
    return live;
  }

  /** Work in slices that is not finished: forgiving, pages of tasks. */
  public int chores() {
    return chores;
  }

  /** Jobs of which no task may start before their rate of starts has a token again. */
  public int heldJobs() {
    return heldJobs;
  }

  /** Nodes below which no task may start before their rate of starts has a token again. */
  public int heldNodes() {
    return heldNodes;
  }

  /** The queues as they were some seconds ago at most; none unless some are configured. */
  public List<QueueView> queues() {
    return queues;
  }

  public void queues(List<QueueView> newest) {
    queues = newest;
  }

  /** Nodes that are kept free for tasks that have been waiting for long. */
  public int reservedNodes() {
    return reservedNodes;
  }

  /** Slots that idle now because they are kept free. */
  public long reservedSlots() {
    return reservedSlots;
  }

  /** How long slots have idled because they were kept free, in all: slots times milliseconds. */
  public long idleSlotMillis() {
    return idleSlotMillis;
  }

  // One writer: no update is lost.

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void round(long placed, boolean complete) {
    placements += placed;
    rounds += complete ? 1 : 0;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void saturatedStep() {
    saturated++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void policyFailed(long placed) {
    placements += placed;
    policyFailures++;
  }

  /** After a round. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void reserved(int nodes, long slots, long nowMillis) {
    idleSlotMillis += reservedSlots * Math.max(0, nowMillis - reservedAt);
    reservedAt = nowMillis;
    reservedNodes = nodes;
    reservedSlots = slots;
  }

  public void now(int liveTasks, int openChores) {
    live = liveTasks;
    chores = openChores;
  }

  public void heldByRate(int jobs, int nodes) {
    heldJobs = jobs;
    heldNodes = nodes;
  }
}
