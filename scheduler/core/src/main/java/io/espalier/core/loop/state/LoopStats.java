package io.espalier.core.loop.state;

import io.espalier.core.api.JobStarts;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.notification.NotifierView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of a loop. Only the scheduler thread writes them, any thread may read them. Each
 * number is correct by itself, but they are not a consistent snapshot.
 */
public final class LoopStats {
  private volatile long rounds;
  private volatile long placements;
  private volatile long saturated;
  private volatile long policyFailures;
  private volatile int live;
  private volatile int chores;
  private volatile int heldJobs;
  private volatile int jobsWithoutPlace;
  private volatile int heldNodes;
  private volatile int heldWorkers;
  private volatile int quarantines;
  private volatile @Nullable StartWindow startWindow;
  private volatile Map<String, StartWindow> startWindowsOfJobs = Map.of();
  private volatile Map<String, NeverStarting> neverStarting = Map.of();
  private volatile List<ResourceUse> resources = List.of();
  private volatile List<QueueView> queues = List.of();
  private volatile List<GroupKindView> groups = List.of();
  private volatile List<NotifierView> notifiers = List.of();
  private volatile int reservedNodes;
  private volatile long reservedSlots;
  private volatile long idleSlotMillis;
  private long reservedAt;

  public LoopStats() {}

  /** Rounds that ran to completion: after each, nothing more could be started. */
  public long rounds() {
    return rounds;
  }

  /** Tasks that were placed. */
  public long placements() {
    return placements;
  }

  /** Steps that placed nothing because the status store lagged too far behind. */
  public long saturated() {
    return saturated;
  }

  /** Rounds that ended early because the policy failed. */
  public long policyFailures() {
    return policyFailures;
  }

  /** Tasks that occupy slots now. */
  public int live() {
    return live;
  }

  /** Unfinished work in slices: forgiving, pages of tasks. */
  public int chores() {
    return chores;
  }

  /** Jobs that wait until fewer jobs run. */
  public int jobsWithoutPlace() {
    return jobsWithoutPlace;
  }

  /** Quarantines of nodes. */
  public int quarantines() {
    return quarantines;
  }

  /** Starts that the runner has not confirmed; 0 unless they are bounded. */
  public int startsInFlight() {
    StartWindow window = startWindow;
    return window == null ? 0 : window.inFlight();
  }

  /** How many starts may be in flight now; 0: they are not bounded. */
  public int startWindow() {
    StartWindow window = startWindow;
    return window == null ? 0 : window.size();
  }

  /** The starts in flight of the jobs that bound them, by name. */
  public List<JobStarts> startsOfJobs() {
    List<JobStarts> starts = new ArrayList<>();
    startWindowsOfJobs.forEach(
        (job, window) -> starts.add(new JobStarts(job, window.inFlight(), window.size())));
    return starts;
  }

  /**
   * @param all null: the starts of all jobs together are not bounded
   */
  public void starting(
      @Nullable StartWindow all, Map<String, StartWindow> ofJobs, int heldWorkers) {
    startWindow = all;
    startWindowsOfJobs = ofJobs;
    this.heldWorkers = heldWorkers;
  }

  /** The tasks that can never start because of the limits of their nodes, by job. */
  public Map<String, NeverStarting> neverStarting() {
    return neverStarting;
  }

  /** The map must not change any more. */
  public void neverStarting(Map<String, NeverStarting> now) {
    neverStarting = now;
  }

  /** Workers that get no task before one of their starts is confirmed. */
  public int heldWorkers() {
    return heldWorkers;
  }

  /** Jobs that cannot start a task before their start rate has a token again. */
  public int heldJobs() {
    return heldJobs;
  }

  /** Nodes below which no task can start before their start rate has a token again. */
  public int heldNodes() {
    return heldNodes;
  }

  /** The notifiers, by name. */
  public List<NotifierView> notifiers() {
    return notifiers;
  }

  public void notifiers(List<NotifierView> now) {
    notifiers = List.copyOf(now);
  }

  /** The use of each resource, at most a few seconds old. */
  public List<ResourceUse> resources() {
    return resources;
  }

  public void resources(List<ResourceUse> newest) {
    resources = newest;
  }

  /** The queues, at most a few seconds old; empty unless queues are configured. */
  public List<QueueView> queues() {
    return queues;
  }

  public void queues(List<QueueView> newest) {
    queues = newest;
  }

  /** The kinds of redundancy groups, at most a few seconds old. */
  public List<GroupKindView> groups() {
    return groups;
  }

  public void groups(List<GroupKindView> newest) {
    groups = newest;
  }

  /** Nodes reserved for tasks that have been waiting for long. */
  public int reservedNodes() {
    return reservedNodes;
  }

  /** Slots that are idle now because they are reserved. */
  public long reservedSlots() {
    return reservedSlots;
  }

  /** Total idle time of reserved slots: slots times milliseconds. */
  public long idleSlotMillis() {
    return idleSlotMillis;
  }

  // There is only one writer, so no update is lost.

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

  /** Updates the reservations after a round. */
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

  public void heldByCapacity(int jobs) {
    jobsWithoutPlace = jobs;
  }

  public void quarantines(int count) {
    quarantines = count;
  }

  public void heldByRate(int jobs, int nodes) {
    heldJobs = jobs;
    heldNodes = nodes;
  }
}
