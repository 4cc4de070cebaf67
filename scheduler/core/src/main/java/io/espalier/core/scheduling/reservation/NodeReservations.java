package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.index.NodeCondition;
import io.espalier.core.scheduling.index.NodeWatcher;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reserves nodes for tasks that lighter tasks would otherwise starve
 * (docs/adr/0035-reservations.md).
 *
 * <p>A heavy job waits at a node from the moment when it could start a task there or below but
 * lacks slots of that node. The wait ends when one of its tasks starts there, or when it has no
 * more task to start there. When it has waited for its {@code reserve_after}, the node is reserved
 * for it: other jobs can use only what it does not need. A node has at most one holder, and the
 * number of nodes that a job can reserve per level is limited.
 *
 * <p>This class decides when waits and reservations begin and end, at the instants that {@link
 * ReservationEngine} tells. {@link WaitingNodes} has the waits, {@link ReservedNodes} the slots
 * that are withheld from others, {@link AncestorCheck} finds other obstacles, and {@link
 * ReservationViews} describes reservations for people. The cost of an event depends on what it
 * changes.
 */
public final class NodeReservations implements Reservable, NodeCondition, NodeWatcher {
  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final StarvableJobs heavy;
  private final int words;
  private final AncestorCheck way;
  private final WaitingNodes nodes;
  private final ReservationEngine engine;
  private final ReservedNodes held;
  private final ReservationViews answers;

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
    nodes = new WaitingNodes(topology, heavy, words);
    engine = new ReservationEngine(jobs, this);
    held = new ReservedNodes(context, heavy, nodes);
    answers = new ReservationViews(context, held, engine, this::countsFrom);
    activeSince = new long[jobs.count()];
  }

  // ---- frequent queries

  @Override
  public long mask(int node, int level, int word) {
    return held.mask(node, level, word);
  }

  /** Returns whether a node is reserved, so that every change of its free slots matters. */
  public boolean isHeld(int node, int level) {
    return held.holder(node, level) != null;
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

  private boolean isShort(Wait wait) {
    return isShort(wait.site, level(wait), wait.job);
  }

  private int level(Wait wait) {
    return context.index().level(wait.site);
  }

  /** Returns whether a reservation could help an active job once it has waited long enough. */
  private boolean isUseful(Wait wait) {
    return jobs.isActive(wait.job) && way.isReachable(wait.site, level(wait), wait.job);
  }

  // ---- waits

  /** Begins or resumes the wait of a job that lacks slots of a node. */
  private void blocked(int node, int level, int job) {
    Wait wait = nodes.find(job, node);
    if (wait == null) {
      if (way.isAllowed(node, job)) {
        begin(node, level, job, engine.beginning());
      }
    } else if (isUseful(wait)) {
      nodes.of(wait).setAsleep(job, false);
      if (engine.isDue(wait) && wait.armed == 0) {
        engine.armForRound(wait);
      } else {
        engine.arm(wait, engine.due(wait));
      }
    }
  }

  private void begin(int node, int level, int job, long since) {
    engine.restart(nodes.add(node, level, job), since);
  }

  @Override
  public void began(Wait wait) {
    NodeWaiters at = nodes.of(wait);
    if (isUseful(wait)) {
      at.setAsleep(wait.job, false);
      engine.arm(wait, engine.due(wait));
    } else {
      sleep(at, wait);
    }
  }

  private void sleep(NodeWaiters at, Wait wait) {
    engine.disarm(wait);
    at.setAsleep(wait.job, true);
  }

  /** Ends a wait; returns whether the node was reserved for the job. */
  private boolean drop(NodeWaiters at, int job) {
    Wait wait = at.find(job);
    if (wait == null) {
      return false;
    }
    boolean held = wait.holds();
    engine.end(wait);
    nodes.remove(at, wait);
    if (!held) {
      wakeNext(job, at.level);
    }
    return held;
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
    boolean wasHeld = at.holder != null;
    Wait wait = at.find(job);
    if (wait != null) {
      boolean own = wait.holds();
      if (own) {
        engine.release(wait);
      }
      wait.ready = false;
      at.setAsleep(job, false);
      engine.restart(wait, engine.beginning());
      if (!own) {
        wakeNext(job, level);
      }
    }
    return wasHeld;
  }

  @Override
  public long key(Wait wait) {
    return TaskTable.key(wait.job, wait.site);
  }

  @Override
  public @Nullable Wait find(long key) {
    return nodes.find(TaskTable.job(key), TaskTable.node(key));
  }

  // ---- time

  /** Sets the clock. */
  public void clockIs(long nowMillis) {
    engine.clockIs(nowMillis);
  }

  /** Ends a round; until the clock is set again, its time may be outdated. */
  public void roundOver() {
    engine.roundOver();
  }

  /**
   * Finds the waits that are over, for the end of the next round; {@link #clockIs} must come first.
   *
   * @return true when no timer that is due is left
   */
  public boolean advance(int limit) {
    for (int job = activated.nextSetBit(0); job >= 0; job = activated.nextSetBit(job + 1)) {
      activeSince[job] = engine.now();
    }
    if (limitsChanged || !activated.isEmpty()) {
      wakeAll();
    }
    limitsChanged = false;
    activated.clear();
    return engine.advance(limit);
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  public long nextTick() {
    return limitsChanged || !activated.isEmpty() ? engine.soon() : engine.nextTick();
  }

  @Override
  public boolean firesAtRoundEnd() {
    return true;
  }

  @Override
  public long countsFrom(Wait wait) {
    return Math.max(wait.since, activeSince[wait.job]);
  }

  @Override
  public void due(Wait wait) {
    NodeWaiters at = nodes.of(wait);
    if (!isUseful(wait) || (at.holder == null && !isShort(wait))) {
      sleep(at, wait);
      wakeNext(wait.job, at.level);
    } else if (at.holder != null) {
      // The end of that reservation wakes this job.
      wakeNext(wait.job, at.level);
    } else if (!way.mayStart(at.node, at.level, wait.job)) {
      engine.arm(wait, engine.now() + ReservationEngine.RECHECK_MILLIS);
    } else if (held.isFull(wait.job, at.level)) {
      held.queue(at, wait);
    } else {
      Wait best = oldest(at, wait);
      engine.hold(best, at.node);
      if (best != wait) {
        wakeNext(wait.job, at.level);
      }
    }
  }

  /**
   * Returns the job that has waited longest among those that can reserve a node; among equals, the
   * first by name.
   */
  private Wait oldest(NodeWaiters at, Wait first) {
    Wait best = first;
    for (Wait wait : at.waits) {
      long ahead = countsFrom(best) - countsFrom(wait);
      if (engine.isDue(wait)
          && (ahead > 0 || (ahead == 0 && wait.job < best.job))
          && !held.isFull(wait.job, at.level)
          && isShort(wait)
          && isUseful(wait)
          && way.mayStart(at.node, at.level, wait.job)) {
        best = wait;
      }
    }
    return best;
  }

  // ---- reservations

  @Override
  public boolean mayKeep(Wait wait) {
    int level = level(wait);
    return way.isReachable(wait.site, level, wait.job) && way.mayStart(wait.site, level, wait.job);
  }

  @Override
  public boolean lacksCapacity(Wait wait) {
    return isShort(wait) || isShortAbove(wait.site, wait.job) || context.mayGetWorker(wait.job);
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

  @Override
  public void unused(Wait wait) {
    engine.setSince(wait, engine.now());
    engine.release(wait);
    refresh(wait);
  }

  @Override
  public void reserve(Wait wait) {
    NodeWaiters at = nodes.of(wait);
    held.add(at, wait);
    at.setAsleep(wait.job, false);
    refresh(wait);
  }

  @Override
  public void free(Wait wait, int place) {
    NodeWaiters at = nodes.of(wait);
    held.remove(at, wait);
    for (Wait other : at.waits) {
      if (!other.ready && !at.isAsleep(other.job)) {
        engine.arm(other, engine.due(other));
      }
    }
    wakeNext(wait.job, at.level);
  }

  @Override
  public void refresh(Wait wait) {
    context.index().refresh(wait.site, level(wait));
  }

  /** Wakes the first node in a job's queue, because the job can reserve another node. */
  private void wakeNext(int job, int level) {
    Wait wait = held.next(job, level);
    if (wait != null) {
      engine.arm(wait, engine.due(wait));
    }
  }

  // ---- events

  /** Handles a job that has become active or inactive. */
  public void activated(int job, boolean on) {
    if (on) {
      activeSince[job] = engine.now();
      activated.set(job);
      return;
    }
    activated.clear(job);
    List<Wait> all = engine.held();
    for (int h = all.size() - 1; h >= 0; h--) {
      if (h < all.size() && all.get(h).job == job) {
        Wait wait = all.get(h);
        engine.release(wait);
        refresh(wait);
      }
    }
  }

  /**
   * Handles a node that was closed: ends the reservations there and below that can no longer be
   * used.
   */
  public void closed(int node) {
    if (held.size() == 0) {
      return;
    }
    List<Wait> holders = new ArrayList<>();
    nodes.atAndBelow(
        node,
        at -> {
          if (at.holder != null) {
            holders.add(at.holder);
          }
        });
    for (Wait wait : holders) {
      // The end of another reservation may have ended this one.
      if (wait.holds() && !isUseful(wait)) {
        engine.release(wait);
        restart(nodes.of(wait), wait);
        refresh(wait);
      }
    }
  }

  /** Handles a node that was opened: the waits there and below begin again. */
  public void opened(int node) {
    nodes.atAndBelow(node, at -> at.waits.forEach(wait -> restart(at, wait)));
  }

  private void restart(NodeWaiters at, Wait wait) {
    if (!wait.holds()) {
      wait.ready = false;
      at.setAsleep(wait.job, false);
      engine.restart(wait, engine.beginning());
    }
  }

  public void limitsChanged() {
    limitsChanged = true;
  }

  private void wakeAll() {
    nodes.forEach(this::wake);
  }

  private void wake(NodeWaiters at) {
    for (Wait wait : at.waits) {
      if (at.isAsleep(wait.job) && isShort(wait) && isUseful(wait)) {
        at.setAsleep(wait.job, false);
        engine.arm(wait, engine.due(wait));
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
        from -> {
          int node = numbers.newNode(from.node);
          for (int i = 0; node >= 0 && i < from.waits.size(); i++) {
            Wait wait = from.waits.get(i);
            int job = numbers.newJob(wait.job);
            if (job >= 0 && wait.since != Wait.UNKNOWN) {
              carry(node, context.index().level(node), job, wait.since);
              count[0]++;
            }
          }
        });
    return count[0];
  }

  private void carry(int node, int level, int job, long since) {
    if (!isWanted(node, level, job) || !way.isAllowed(node, job)) {
      return;
    }
    Wait wait = nodes.find(job, node);
    if (wait == null) {
      begin(node, level, job, since);
    } else {
      engine.restart(wait, since);
    }
  }

  /** Returns whether a job is heavy on a level and has a task to start at or below a node. */
  private boolean isWanted(int node, int level, int job) {
    long[] watched = heavy.onLevel(level);
    return watched != null
        && (watched[job >>> 6] & 1L << job) != 0
        && context.index().wants(node, job);
  }

  /** Takes over the reservations of the previous state when this state comes into force. */
  public void takeOver(@Nullable NodeReservations old, Renumbering numbers) {
    if (old == null) {
      return;
    }
    engine.resumeFrom(old.engine);
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
    engine.takeOver(old.engine, numbers);
  }

  @Override
  public @Nullable Wait find(Wait before, Renumbering numbers) {
    int node = numbers.newNode(before.site);
    int job = numbers.newJob(before.job);
    return node < 0 || job < 0 ? null : nodes.find(job, node);
  }

  @Override
  public String name(Wait wait) {
    return topology.name(wait.site);
  }

  @Override
  public int again(Wait wait, String name) {
    int level = level(wait);
    return !isHeld(wait.site, level) && !held.isFull(wait.job, level) && mayKeep(wait)
        ? wait.site
        : -1;
  }

  // ---- queries

  /** Returns how many nodes were looked at so far because one was closed or opened. */
  public long work() {
    return nodes.work();
  }

  /** Returns the descriptions of the reservations. */
  public ReservationViews answers() {
    return answers;
  }

  /** Returns whether any node is reserved for a job. */
  public boolean holdsAny(int job) {
    return held.holdsAny(job);
  }

  /**
   * Checks the consistency of waits, timers and reservations.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    List<Wait> all = new ArrayList<>();
    nodes.forEach(at -> all.addAll(at.waits));
    engine.check(all);
    held.check(engine.held());
    for (int node = 0; node < topology.size(); node++) {
      int level = context.index().level(node);
      NodeWaiters at = nodes.get(node);
      for (int job = 0; job < jobs.count(); job++) {
        boolean wants = isWanted(node, level, job);
        boolean must = wants && isShort(node, level, job) && way.isAllowed(node, job);
        Wait wait = at == null ? null : at.find(job);
        boolean isHeld = at != null && at.holder != null;
        boolean sleeps = at != null && at.isAsleep(job);
        if ((wait == null && must)
            || (wait != null && (!wants || (!isHeld && sleeps == wait.isTended())))) {
          throw new IllegalStateException("the waits are wrong: job " + job + ", node " + node);
        }
      }
    }
  }
}
