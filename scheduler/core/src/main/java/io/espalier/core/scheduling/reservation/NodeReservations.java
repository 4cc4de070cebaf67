package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.index.NodeCondition;
import io.espalier.core.scheduling.index.NodeWatcher;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reserves nodes for tasks that lighter tasks would otherwise starve
 * (docs/adr/0035-reservations.md): the only exception to the rule that every startable task is
 * started.
 *
 * <p>A heavy job waits at a node from the moment when it could start a task there or below but
 * lacks slots of that node. The wait ends when one of its tasks starts there, or when it has no
 * more task to start there. When it has waited for its {@code reserve_after}, the node is reserved
 * for it: other jobs can use only what it does not need. A node has at most one holder, and the
 * number of nodes that a job can reserve per level is limited.
 *
 * <p>Each reservation is rechecked every second; the cost of anything else depends on what changes.
 *
 * <p>This class makes the decisions. {@link ReservedNodes} has the reserved nodes and the slots
 * that they withhold from others, {@link ReservationTimers} the timers of waiting jobs, {@link
 * AncestorCheck} finds other obstacles, and {@link ReservationViews} describes reservations for
 * people.
 */
public final class NodeReservations implements NodeCondition, NodeWatcher {
  /** The interval for rechecking reservations, and waiting jobs that could not use one. */
  private static final int RECHECK_MILLIS = 1_000;

  private static final int MOST_SPARE = 1_000;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final StarvableJobs heavy;
  private final int words;
  private final AncestorCheck way;
  private final LongMap<NodeWaiters> nodes = new LongMap<>();
  private final ReservationTimers timers = new ReservationTimers(nodes);
  private final ReservedNodes held;
  private final ReservationViews answers;
  private final List<NodeWaiters> spare = new ArrayList<>();

  /** By job: since when it has been active. */
  private final long[] activeSince;

  private final BitSet activated = new BitSet();

  private boolean limitsChanged;

  public NodeReservations(ReservationContext context, StarvableJobs heavy) {
    this.context = context;
    this.heavy = heavy;
    topology = context.topology();
    jobs = context.jobs();
    words = jobs.words;
    way = new AncestorCheck(context);
    held = new ReservedNodes(context, heavy, nodes);
    answers = new ReservationViews(context, held, this::from);
    activeSince = new long[jobs.count()];
  }

  // ---- frequent queries

  @Override
  public long mask(int node, int level, int word) {
    return held.mask(node, level, word);
  }

  /** Returns whether a node is reserved, so that every change of its free slots matters. */
  public boolean isHeld(int node, int level) {
    return held.at(node, level) != null;
  }

  @Override
  public void evaluated(int node, int level, int word, long wants) {
    long[] watched = heavy.onLevel(level);
    if (watched == null || watched[word] == 0) {
      return;
    }
    NodeWaiters at = nodes.get(node);
    long waits = at == null ? 0 : at.bits[word];
    boolean ended = false;
    for (long gone = waits & ~wants; at != null && gone != 0; gone &= gone - 1) {
      ended |= drop(at, (word << 6) + Long.numberOfTrailingZeros(gone));
    }
    long candidates = watched[word] & wants & (at == null ? -1L : ~waits | at.asleep[word]);
    if (candidates != 0) {
      candidates &= ~fit(node, level, word);
    }
    for (; candidates != 0; candidates &= candidates - 1) {
      blocked(node, level, (word << 6) + Long.numberOfTrailingZeros(candidates));
    }
    for (int w = 0; ended && w < words; w++) {
      // The index is about to evaluate this word itself.
      if (w != word) {
        context.index().refresh(node, level, w);
      }
    }
  }

  private long fit(int node, int level, int word) {
    return context.ledger().fit(node, level, word) & mask(node, level, word);
  }

  private boolean isShort(int node, int level, int job) {
    return (fit(node, level, job >>> 6) & 1L << job) == 0;
  }

  /** Begins or resumes the wait of a job that lacks slots of a node. */
  private void blocked(int node, int level, int job) {
    NodeWaiters at = nodes.get(node);
    if (at != null && at.has(job)) {
      if (jobs.isActive(job) && way.isReachable(node, level, job)) {
        wakeBlocked(at, at.find(job));
      }
    } else if (way.isAllowed(node, job)) {
      begin(node, level, job, timers.beginning());
    }
  }

  private void wakeBlocked(NodeWaiters at, int i) {
    at.setAsleep(at.jobs[i], false);
    if (isDue(at, i) && at.armed[i] == 0) {
      timers.armForRound(at, i);
    } else {
      arm(at, i);
    }
  }

  private void begin(int node, int level, int job, long since) {
    NodeWaiters at = nodes.get(node);
    if (at == null) {
      at = spare.isEmpty() ? new NodeWaiters(words) : spare.remove(spare.size() - 1);
      at.node = node;
      at.level = level;
      nodes.put(node, at);
    }
    int i = at.add(job);
    setSince(at, i, since);
  }

  private void setSince(NodeWaiters at, int i, long since) {
    at.since[i] = since;
    int job = at.jobs[i];
    if (since == NodeWaiters.UNKNOWN) {
      at.setAsleep(job, false);
      timers.addFresh(at, i);
    } else if (jobs.isActive(job) && way.isReachable(at.node, at.level, job)) {
      at.setAsleep(job, false);
      arm(at, i);
    } else {
      sleep(at, i);
    }
  }

  /** Ends a wait; returns whether the node was reserved for the job. */
  private boolean drop(NodeWaiters at, int job) {
    int i = at.find(job);
    boolean ended = at.holder == job;
    if (ended) {
      endHold(at);
    }
    timers.disarm(at, i);
    at.remove(i);
    if (!ended) {
      wakeNext(job, at.level);
    }
    if (at.count == 0) {
      nodes.remove(at.node);
      if (spare.size() < MOST_SPARE) {
        spare.add(at);
      }
    }
    return ended;
  }

  /**
   * Handles a start of a job on a node or below it, which restarts the job's wait there.
   *
   * @return whether the node was reserved, so that the set of jobs that fit may have changed
   */
  public boolean started(int job, int node, int level) {
    if (heavy.onLevel(level) == null) {
      return false;
    }
    NodeWaiters at = nodes.get(node);
    if (at == null) {
      return false;
    }
    boolean wasHeld = at.holder >= 0;
    int i = at.find(job);
    if (i >= 0) {
      boolean own = at.holder == job;
      if (own) {
        endHold(at);
      }
      at.queued[i] = false;
      setSince(at, i, timers.beginning());
      if (!own) {
        wakeNext(job, level);
      }
    }
    return wasHeld;
  }

  // ---- time

  /** Sets the clock. */
  public void clockIs(long nowMillis) {
    timers.clockIs(nowMillis);
  }

  /**
   * Ends a round: handles the timers that are due. Until the clock is set again, its time may be
   * outdated.
   */
  public void clockRuns() {
    timers.takeRipe(this::fire);
    timers.clockRuns();
  }

  /**
   * Finds the waits that are over, for the end of the next round; {@link #clockIs} must come first.
   *
   * @return true when no timer that is due is left
   */
  public boolean advance(int limit) {
    for (int job = activated.nextSetBit(0); job >= 0; job = activated.nextSetBit(job + 1)) {
      activeSince[job] = timers.now();
    }
    if (limitsChanged || !activated.isEmpty()) {
      wakeAll();
    }
    limitsChanged = false;
    activated.clear();
    timers.takeFresh((at, i) -> setSince(at, i, timers.now()));
    // These timers remain when no round followed the last call.
    timers.takeRipe(this::fire);
    return timers.ripen(limit);
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  public long nextTick() {
    return timers.nextTick(limitsChanged || !activated.isEmpty());
  }

  /** Sets the timer for the end of a wait, or for the next tick when the wait is over. */
  private void arm(NodeWaiters at, int i) {
    arm(at, i, due(at, i));
  }

  private void arm(NodeWaiters at, int i, long millis) {
    if (at.since[i] != NodeWaiters.UNKNOWN) {
      timers.arm(at, i, millis);
    }
  }

  private void sleep(NodeWaiters at, int i) {
    timers.disarm(at, i);
    at.setAsleep(at.jobs[i], true);
  }

  private long from(NodeWaiters at, int i) {
    return Math.max(at.since[i], activeSince[at.jobs[i]]);
  }

  private long due(NodeWaiters at, int i) {
    return from(at, i) + heavy.afterMillis(at.jobs[i]);
  }

  private boolean isDue(NodeWaiters at, int i) {
    return at.since[i] != NodeWaiters.UNKNOWN && due(at, i) <= timers.now();
  }

  private void fire(NodeWaiters at, int i) {
    int job = at.jobs[i];
    if (at.holder == job) {
      recheck(at, i);
    } else if (!isDue(at, i)) {
      arm(at, i);
    } else if (!jobs.isActive(job)
        || !way.isReachable(at.node, at.level, job)
        || (at.holder < 0 && !isShort(at.node, at.level, job))) {
      sleep(at, i);
      wakeNext(job, at.level);
    } else if (at.holder >= 0) {
      // The end of that reservation wakes this job.
      wakeNext(job, at.level);
    } else if (!way.mayStart(at.node, at.level, job)) {
      arm(at, i, timers.now() + RECHECK_MILLIS);
    } else if (held.isFull(job, at.level)) {
      held.queue(at, i);
    } else {
      int best = oldest(at, i);
      hold(at, best, timers.now());
      if (best != i) {
        wakeNext(job, at.level);
      }
    }
  }

  /**
   * Returns the job that has waited longest among those that can reserve a node; among equals, the
   * first by name.
   */
  private int oldest(NodeWaiters at, int first) {
    int best = first;
    for (int i = 0; i < at.count; i++) {
      int job = at.jobs[i];
      long ahead = from(at, best) - from(at, i);
      if (isDue(at, i)
          && (ahead > 0 || (ahead == 0 && job < at.jobs[best]))
          && !held.isFull(job, at.level)
          && jobs.isActive(job)
          && isShort(at.node, at.level, job)
          && way.isReachable(at.node, at.level, job)
          && way.mayStart(at.node, at.level, job)) {
        best = i;
      }
    }
    return best;
  }

  private void recheck(NodeWaiters at, int i) {
    int job = at.holder;
    long now = timers.now();
    if (!way.isReachable(at.node, at.level, job) || !way.mayStart(at.node, at.level, job)) {
      endHold(at);
      context.index().refresh(at.node, at.level);
      return;
    }
    if (isShort(at.node, at.level, job)
        || isShortAbove(at.node, job)
        || context.mayGetWorker(job)) {
      at.idleSince = now;
    } else if (now - at.idleSince >= Math.max(RECHECK_MILLIS, heavy.afterMillis(job))) {
      // No task has started, for reasons other than slots of nodes.
      at.since[i] = now;
      endHold(at);
      context.index().refresh(at.node, at.level);
      return;
    }
    arm(at, i, now + RECHECK_MILLIS);
  }

  // ---- reserving

  private void hold(NodeWaiters at, int i, long since) {
    int job = at.jobs[i];
    held.add(at, job);
    at.heldSince = since;
    at.idleSince = timers.now();
    at.queued[i] = false;
    at.setAsleep(job, false);
    timers.disarm(at, i);
    arm(at, i, timers.now() + RECHECK_MILLIS);
    context.index().refresh(at.node, at.level);
  }

  /** Ends a reservation; the caller must refresh the node in the index. */
  private void endHold(NodeWaiters at) {
    int job = at.holder;
    held.remove(at);
    for (int i = 0; i < at.count; i++) {
      if (!at.queued[i] && !at.isAsleep(at.jobs[i])) {
        arm(at, i);
      }
    }
    wakeNext(job, at.level);
  }

  /** Wakes the first node in a job's queue, because the job can reserve another node. */
  private void wakeNext(int job, int level) {
    NodeWaiters at = held.next(job, level);
    if (at != null) {
      arm(at, at.find(job));
    }
  }

  /** Returns whether the job lacks slots of a node above, which justifies the reservation below. */
  private boolean isShortAbove(int node, int job) {
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (slot != 0) {
        int parent = topology.parent(slot);
        if (isShort(parent, context.index().level(parent), job) || isShortAbove(parent, job)) {
          return true;
        }
      }
    }
    return false;
  }

  // ---- events

  /** Handles a job that has become active or inactive. */
  public void activated(int job, boolean on) {
    if (on) {
      activeSince[job] = timers.now();
      activated.set(job);
      return;
    }
    activated.clear(job);
    List<NodeWaiters> all = held.all();
    for (int h = all.size() - 1; h >= 0; h--) {
      if (h < all.size() && all.get(h).holder == job) {
        NodeWaiters at = all.get(h);
        endHold(at);
        context.index().refresh(at.node, at.level);
      }
    }
  }

  public void limitsChanged() {
    limitsChanged = true;
  }

  private void wakeAll() {
    for (int part = 0; part < nodes.parts(); part++) {
      nodes.visit(part, (node, at) -> wake(at));
    }
  }

  private void wake(NodeWaiters at) {
    for (int i = 0; i < at.count; i++) {
      int job = at.jobs[i];
      if (at.isAsleep(job)
          && jobs.isActive(job)
          && isShort(at.node, at.level, job)
          && way.isReachable(at.node, at.level, job)) {
        at.setAsleep(job, false);
        arm(at, i);
      }
    }
  }

  // ---- migration

  public int parts() {
    return nodes.parts();
  }

  /**
   * Carries over a part of the waits of the previous state.
   *
   * @return the number of waits
   */
  public int carry(NodeReservations old, Renumbering numbers, int part) {
    int[] count = new int[1];
    old.nodes.visit(
        part,
        (oldNode, from) -> {
          int node = numbers.newNode((int) oldNode);
          for (int i = 0; node >= 0 && i < from.count; i++) {
            int job = numbers.newJob(from.jobs[i]);
            if (job >= 0 && from.since[i] != NodeWaiters.UNKNOWN) {
              carry(node, context.index().level(node), job, from.since[i]);
              count[0]++;
            }
          }
        });
    return count[0];
  }

  private void carry(int node, int level, int job, long since) {
    long[] watched = heavy.onLevel(level);
    if (watched == null
        || (watched[job >>> 6] & 1L << job) == 0
        || !context.index().wants(node, job)
        || !way.isAllowed(node, job)) {
      return;
    }
    NodeWaiters at = nodes.get(node);
    int i = at == null ? -1 : at.find(job);
    if (at == null || i < 0) {
      begin(node, level, job, since);
    } else {
      setSince(at, i, since);
    }
  }

  /** Takes over the reservations of the previous state when this state comes into force. */
  public void takeOver(@Nullable NodeReservations old, Renumbering numbers) {
    if (old == null) {
      return;
    }
    timers.goOnAfter(old.timers);
    for (int j = 0; j < old.activeSince.length; j++) {
      int job = numbers.newJob(j);
      if (job >= 0 && old.jobs.isActive(j) && jobs.isActive(job)) {
        activeSince[job] = old.activeSince[j];
        activated.clear(job);
        if (old.activated.get(j)) {
          activated.set(job);
        }
      }
    }
    // Some waits were carried over before their jobs were active.
    wakeAll();
    for (NodeWaiters from : old.held.all()) {
      int node = numbers.newNode(from.node);
      int job = numbers.newJob(from.holder);
      NodeWaiters at = node < 0 || job < 0 ? null : nodes.get(node);
      int i = at == null ? -1 : at.find(job);
      if (at != null
          && i >= 0
          && at.holder < 0
          && !held.isFull(job, at.level)
          && way.isReachable(node, at.level, job)
          && way.mayStart(node, at.level, job)) {
        // The wait may have restarted in this state, but a reservation without a timer would never
        // be rechecked.
        at.since[i] = from.since[from.find(from.holder)];
        hold(at, i, from.heldSince);
        at.idleSince = from.idleSince;
      }
    }
  }

  // ---- queries

  /** Returns the descriptions of the reservations. */
  public ReservationViews answers() {
    return answers;
  }

  /** Returns the reserved nodes. */
  public ReservedNodes held() {
    return held;
  }

  /**
   * Checks the consistency of waits, timers and reservations.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    int armed = 0;
    for (int node = 0; node < topology.size(); node++) {
      int level = context.index().level(node);
      NodeWaiters at = nodes.get(node);
      for (int job = 0; job < jobs.count(); job++) {
        long[] watched = heavy.onLevel(level);
        boolean wants =
            watched != null
                && (watched[job >>> 6] & 1L << job) != 0
                && context.index().wants(node, job);
        int i = at == null ? -1 : at.find(job);
        boolean must = wants && isShort(node, level, job) && way.isAllowed(node, job);
        boolean isThere = at != null && i >= 0;
        boolean sleeps = at != null && i >= 0 && at.isAsleep(job);
        boolean looked =
            at != null
                && i >= 0
                && (at.armed[i] != 0
                    || at.queued[i]
                    || at.holder >= 0
                    || at.since[i] == NodeWaiters.UNKNOWN);
        if ((must && !isThere)
            || (isThere && !wants)
            || (at != null && isThere != at.has(job))
            || (at != null && isThere && sleeps == looked && at.holder < 0)
            || (at != null && at.holder == job && !isThere)) {
          throw new IllegalStateException("the waits are wrong: job " + job + ", node " + node);
        }
        armed += at != null && i >= 0 && at.armed[i] != 0 ? 1 : 0;
      }
    }
    if (armed != timers.armedCount()) {
      throw new IllegalStateException("the count of waits is wrong");
    }
    held.check();
  }
}
