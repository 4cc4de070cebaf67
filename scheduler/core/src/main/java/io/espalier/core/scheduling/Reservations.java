package io.espalier.core.scheduling;

import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Keeps nodes free for tasks that lighter ones would keep waiting for ever (design ruling 8, ADR
 * 0035): the one exception to "what may start is started".
 *
 * <p>A heavy job waits at a node from the moment when it wants to start something there, or below,
 * and lacks slots of that node, until a task of it starts there or it wants nothing there any more.
 * When it has waited for its {@code reserve_after} the node is held for it: others get only what it
 * does not need. A node has one holder, and a job holds few nodes of a level at a time.
 *
 * <p>What is held is looked at again every second; everything else costs what changes.
 *
 * <p><b>Length.</b> Waits, holds, their timers and their check share the state of a node.
 */
final class Reservations implements NodeGate {
  /** How often it is looked whether what is held is still worth it, and who could not hold. */
  private static final int RECHECK_MILLIS = 1_000;

  /** One job holds at most one of so many nodes of a level, but at least one. */
  private static final int SHARE = 20;

  private static final int MOST_SPARE = 1_000;

  /**
   * In the place of a timer: at the end of the round. Between an end and the round after it slots
   * are free that nobody leaves to the heavy job.
   */
  private static final long AFTER_ROUND = -1;

  /** Children of a node that are looked at for one to show. */
  private static final int MOST_SCANNED = 10_000;

  private final World world;
  private final Topology topology;
  private final JobTable jobs;
  private final HeavyJobs heavy;
  private final int words;
  private final int levels;
  private final LongMap<NodeWaits> nodes = new LongMap<>();
  private final List<NodeWaits> held = new ArrayList<>();
  private final Timers timers = new Timers(this::isArmed);
  private final List<NodeWaits> spare = new ArrayList<>();

  /** By job and level: how many nodes it holds, and who waits to hold one more. */
  private final int[] holds;

  private final Map<Integer, Queue<Integer>> lines = new HashMap<>();

  /** By job: since when it has been active. */
  private final long[] activeSince;

  private final BitSet activated = new BitSet();

  /** Waits that began at an instant which is known only at the next look at the clock. */
  private final LongQueue fresh = new LongQueue();

  /** What is to be looked at when the round is over. */
  private final LongQueue ripe = new LongQueue();

  private int armedCount;
  private boolean limitsChanged;
  private long now;

  /** Time has gone on since it was told. */
  private boolean stale = true;

  Reservations(World world, HeavyJobs heavy) {
    this.world = world;
    this.heavy = heavy;
    topology = world.topology;
    jobs = world.jobs;
    words = jobs.words;
    levels = topology.levels().count();
    holds = new int[Math.multiplyExact(jobs.count(), levels)];
    activeSince = new long[jobs.count()];
  }

  // ---- what is asked all the time

  @Override
  public long mask(int node, int level, int word) {
    NodeWaits at = heldAt(node, level);
    if (at == null) {
      return -1L;
    }
    long own = at.holder >>> 6 == word ? 1L << at.holder : 0;
    return own | world.ledger.fitBeside(node, level, word, jobs.needs[at.holder]);
  }

  private @Nullable NodeWaits heldAt(int node, int level) {
    if (held.isEmpty() || heavy.onLevel(level) == null) {
      return null;
    }
    NodeWaits at = nodes.get(node);
    return at == null || at.holder < 0 ? null : at;
  }

  /** Whether a node is held, so that every change of its free slots matters. */
  boolean isHeld(int node, int level) {
    return heldAt(node, level) != null;
  }

  /**
   * The index looks at a node.
   *
   * @param wants bits of the jobs that would start something there or below, slots of this node and
   *     those above aside
   */
  void looked(int node, int level, int word, long wants) {
    long[] watched = heavy.onLevel(level);
    if (watched == null || watched[word] == 0) {
      return;
    }
    NodeWaits at = nodes.get(node);
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
      // The word itself is about to be looked at.
      if (w != word) {
        world.index.refresh(node, level, w);
      }
    }
  }

  private long fit(int node, int level, int word) {
    return world.ledger.fit(node, level, word) & mask(node, level, word);
  }

  private boolean isShort(int node, int level, int job) {
    return (fit(node, level, job >>> 6) & 1L << job) == 0;
  }

  /** A job lacks slots of a node: its wait begins, or goes on. */
  private void blocked(int node, int level, int job) {
    NodeWaits at = nodes.get(node);
    if (at != null && at.has(job)) {
      if (jobs.isActive(job) && isReachable(node, level, job)) {
        wakeBlocked(at, at.find(job));
      }
    } else if (isAllowed(node, job)) {
      begin(node, level, job, stale ? NodeWaits.UNKNOWN : now);
    }
  }

  private void wakeBlocked(NodeWaits at, int i) {
    at.setAsleep(at.jobs[i], false);
    if (isDue(at, i) && at.armed[i] == 0) {
      armedCount++;
      at.armed[i] = AFTER_ROUND;
      ripe.add(TaskTable.key(at.jobs[i], at.node));
    } else {
      arm(at, i);
    }
  }

  private void begin(int node, int level, int job, long since) {
    NodeWaits at = nodes.get(node);
    if (at == null) {
      at = spare.isEmpty() ? new NodeWaits(words) : spare.remove(spare.size() - 1);
      at.node = node;
      at.level = level;
      nodes.put(node, at);
    }
    int i = at.add(job);
    setSince(at, i, since);
  }

  private void setSince(NodeWaits at, int i, long since) {
    at.since[i] = since;
    int job = at.jobs[i];
    if (since == NodeWaits.UNKNOWN) {
      disarm(at, i);
      at.setAsleep(job, false);
      fresh.add(TaskTable.key(job, at.node));
    } else if (jobs.isActive(job) && isReachable(at.node, at.level, job)) {
      at.setAsleep(job, false);
      arm(at, i);
    } else {
      sleep(at, i);
    }
  }

  /** Returns whether the node was held for it. */
  private boolean drop(NodeWaits at, int job) {
    int i = at.find(job);
    boolean ended = at.holder == job;
    if (ended) {
      endHold(at);
    }
    disarm(at, i);
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
   * A task of a job starts on a node or below it: whoever waits there begins anew.
   *
   * @return whether others may fit now on that account
   */
  boolean started(int job, int node, int level) {
    if (heavy.onLevel(level) == null) {
      return false;
    }
    NodeWaits at = nodes.get(node);
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
      setSince(at, i, stale ? NodeWaits.UNKNOWN : now);
      if (!own) {
        wakeNext(job, level);
      }
    }
    return wasHeld;
  }

  // ---- time

  /** It is that late now. */
  void clockIs(long nowMillis) {
    now = nowMillis;
    stale = false;
  }

  /** A round is over: what is due is looked at, and from now on it may be later than was told. */
  void clockRuns() {
    lookAtRipe();
    stale = true;
  }

  private void lookAtRipe() {
    while (!ripe.isEmpty()) {
      long key = ripe.poll();
      NodeWaits at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.armed[i] == AFTER_ROUND) {
        disarm(at, i);
        fire(at, i);
      }
    }
  }

  /**
   * Finds the waits that are over, for the end of the next round; {@link #clockIs} comes first.
   *
   * @return whether that was all
   */
  boolean advance(int limit) {
    for (int job = activated.nextSetBit(0); job >= 0; job = activated.nextSetBit(job + 1)) {
      activeSince[job] = now;
    }
    if (limitsChanged || !activated.isEmpty()) {
      wakeAll();
    }
    limitsChanged = false;
    activated.clear();
    while (!fresh.isEmpty()) {
      long key = fresh.poll();
      NodeWaits at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.since[i] == NodeWaits.UNKNOWN) {
        setSince(at, i, now);
      }
    }
    // Of a step without a round.
    lookAtRipe();
    long tick = Math.floorDiv(now, (long) SchedulingCore.TICK_MILLIS);
    for (int n = 0; n < limit; n++) {
      long key = timers.pollDue(tick);
      if (key < 0) {
        return true;
      }
      NodeWaits at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.armed[i] > 0 && at.armed[i] <= tick) {
        at.armed[i] = AFTER_ROUND;
        ripe.add(key);
      }
    }
    return timers.nextTick() > tick;
  }

  /** {@link Long#MAX_VALUE}: never. */
  long nextTick() {
    if (!fresh.isEmpty() || !ripe.isEmpty() || limitsChanged || !activated.isEmpty()) {
      return Math.floorDiv(now, (long) SchedulingCore.TICK_MILLIS) + 1;
    }
    return armedCount == 0 ? Long.MAX_VALUE : timers.nextTick();
  }

  private boolean isArmed(long key, long tick) {
    NodeWaits at = nodes.get(TaskTable.node(key));
    int i = at == null ? -1 : at.find(TaskTable.job(key));
    return at != null && i >= 0 && at.armed[i] == tick;
  }

  private void disarm(NodeWaits at, int i) {
    armedCount -= at.armed[i] != 0 ? 1 : 0;
    at.armed[i] = 0;
  }

  /** Sets the timer for the end of a wait, or for soon when that has been. */
  private void arm(NodeWaits at, int i) {
    arm(at, i, due(at, i));
  }

  private void arm(NodeWaits at, int i, long millis) {
    if (at.since[i] == NodeWaits.UNKNOWN) {
      return;
    }
    long soon = Math.floorDiv(now, (long) SchedulingCore.TICK_MILLIS) + 1;
    long tick = Math.max(soon, -Math.floorDiv(-millis, (long) SchedulingCore.TICK_MILLIS));
    if (at.armed[i] != 0 && at.armed[i] <= tick) {
      // It comes up earlier, and looks then how long it still has to wait.
      return;
    }
    disarm(at, i);
    armedCount++;
    at.armed[i] = tick;
    timers.add(TaskTable.key(at.jobs[i], at.node), tick);
  }

  private void sleep(NodeWaits at, int i) {
    disarm(at, i);
    at.setAsleep(at.jobs[i], true);
  }

  private long from(NodeWaits at, int i) {
    return Math.max(at.since[i], activeSince[at.jobs[i]]);
  }

  private long due(NodeWaits at, int i) {
    return from(at, i) + heavy.afterMillis(at.jobs[i]);
  }

  private boolean isDue(NodeWaits at, int i) {
    return at.since[i] != NodeWaits.UNKNOWN && due(at, i) <= now;
  }

  private void fire(NodeWaits at, int i) {
    int job = at.jobs[i];
    if (at.holder == job) {
      recheck(at, i);
    } else if (!isDue(at, i)) {
      arm(at, i);
    } else if (!jobs.isActive(job)
        || !isReachable(at.node, at.level, job)
        || (at.holder < 0 && !isShort(at.node, at.level, job))) {
      sleep(at, i);
      wakeNext(job, at.level);
    } else if (at.holder >= 0) {
      // The end of that wakes it.
      wakeNext(job, at.level);
    } else if (!mayStart(at.node, at.level, job)) {
      arm(at, i, now + RECHECK_MILLIS);
    } else if (isFull(job, at.level)) {
      queue(at, i);
    } else {
      int best = oldest(at, i);
      hold(at, best, now);
      if (best != i) {
        wakeNext(job, at.level);
      }
    }
  }

  /** Who has waited longest of those that may hold a node; of equals the first by name. */
  private int oldest(NodeWaits at, int first) {
    int best = first;
    for (int i = 0; i < at.count; i++) {
      int job = at.jobs[i];
      long ahead = from(at, best) - from(at, i);
      if (isDue(at, i)
          && (ahead > 0 || (ahead == 0 && job < at.jobs[best]))
          && !isFull(job, at.level)
          && jobs.isActive(job)
          && isShort(at.node, at.level, job)
          && isReachable(at.node, at.level, job)
          && mayStart(at.node, at.level, job)) {
        best = i;
      }
    }
    return best;
  }

  private void recheck(NodeWaits at, int i) {
    int job = at.holder;
    if (!isReachable(at.node, at.level, job) || !mayStart(at.node, at.level, job)) {
      endHold(at);
      world.index.refresh(at.node, at.level);
      return;
    }
    if (isShort(at.node, at.level, job)
        || isShortAbove(at.node, job)
        || world.rooms.workers().hopes(job)) {
      at.idleSince = now;
    } else if (now - at.idleSince >= Math.max(RECHECK_MILLIS, heavy.afterMillis(job))) {
      // Nobody takes it, for reasons that slots of nodes have no part in.
      at.since[i] = now;
      endHold(at);
      world.index.refresh(at.node, at.level);
      return;
    }
    arm(at, i, now + RECHECK_MILLIS);
  }

  // ---- holding

  private void hold(NodeWaits at, int i, long since) {
    int job = at.jobs[i];
    at.holder = job;
    at.heldSince = since;
    at.idleSince = now;
    at.heldAt = held.size();
    at.queued[i] = false;
    at.setAsleep(job, false);
    held.add(at);
    holds[job * levels + at.level]++;
    disarm(at, i);
    arm(at, i, now + RECHECK_MILLIS);
    world.index.refresh(at.node, at.level);
  }

  /** The node must be looked at by the index afterwards. */
  private void endHold(NodeWaits at) {
    int job = at.holder;
    at.holder = -1;
    holds[job * levels + at.level]--;
    NodeWaits last = held.remove(held.size() - 1);
    if (last != at) {
      held.set(at.heldAt, last);
      last.heldAt = at.heldAt;
    }
    for (int i = 0; i < at.count; i++) {
      if (!at.queued[i] && !at.isAsleep(at.jobs[i])) {
        arm(at, i);
      }
    }
    wakeNext(job, at.level);
  }

  private boolean isFull(int job, int level) {
    int count = topology.levelEnd(level) - topology.levelStart(level);
    return holds[job * levels + level] >= Math.max(1, count / SHARE);
  }

  private void queue(NodeWaits at, int i) {
    Queue<Integer> line =
        lines.computeIfAbsent(at.jobs[i] * levels + at.level, k -> new ArrayDeque<>());
    if (line.size() > 2L * (topology.levelEnd(at.level) - topology.levelStart(at.level))) {
      int job = at.jobs[i];
      line.removeIf(node -> !isQueued(node, job));
    }
    at.queued[i] = true;
    line.add(at.node);
  }

  private boolean isQueued(int node, int job) {
    NodeWaits at = nodes.get(node);
    int i = at == null ? -1 : at.find(job);
    return at != null && i >= 0 && at.queued[i];
  }

  /** A job may hold another node: the first in its line is looked at. */
  private void wakeNext(int job, int level) {
    Queue<Integer> line = lines.isEmpty() ? null : lines.get(job * levels + level);
    while (line != null && !line.isEmpty() && !isFull(job, level)) {
      NodeWaits at = nodes.get(line.remove());
      int i = at == null ? -1 : at.find(job);
      if (at != null && i >= 0 && at.queued[i]) {
        at.queued[i] = false;
        arm(at, i);
        return;
      }
    }
  }

  /** Whether something may start there on account of its path but for what changes by the hour. */
  private boolean isAllowed(int node, int job) {
    return findPath(node, topology.level(node), job, false, false);
  }

  /** Whether also no limit on the way is below what is needed. */
  private boolean isReachable(int node, int level, int job) {
    return findPath(node, level, job, true, false);
  }

  /** Whether also nothing but slots keeps the job's tasks there from starting. */
  private boolean mayStart(int node, int level, int job) {
    long bit = 1L << job;
    int word = job >>> 6;
    if ((jobs.active(word) & world.caps.open(word) & world.queues.open(word) & bit) == 0) {
      return false;
    }
    return findPath(node, level, job, true, true);
  }

  private boolean findPath(int node, int level, int job, boolean limits, boolean workers) {
    if (limits && !isWithinLimits(node, level, job)) {
      return false;
    }
    int placing = world.workers.placementLevel(job);
    if (workers && placing == level && !world.workers.isThere(job, topology.name(node))) {
      return false;
    }
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (world.index.isAllowed(slot, job) && topology.enabled(slot)) {
        if (slot == 0) {
          return !workers
              || placing >= 0
              || world.workers.isThere(job, world.workers.pinnedTo(job));
        }
        int parent = topology.parent(slot);
        if (findPath(parent, world.index.level(parent), job, limits, workers)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isWithinLimits(int node, int level, int job) {
    for (int r : world.ledger.resources(level)) {
      int need = jobs.needs[job][r];
      if (need > 0 && need > world.ledger.limit(node, level, r)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the job lacks slots of a node above, so that the one below is kept for good reason. */
  private boolean isShortAbove(int node, int job) {
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (slot != 0) {
        int parent = topology.parent(slot);
        if (isShort(parent, world.index.level(parent), job) || isShortAbove(parent, job)) {
          return true;
        }
      }
    }
    return false;
  }

  // ---- news

  /** A job has become active or has ceased to be. */
  void activated(int job, boolean on) {
    if (on) {
      activeSince[job] = now;
      activated.set(job);
      return;
    }
    activated.clear(job);
    for (int h = held.size() - 1; h >= 0; h--) {
      if (h < held.size() && held.get(h).holder == job) {
        NodeWaits at = held.get(h);
        endHold(at);
        world.index.refresh(at.node, at.level);
      }
    }
  }

  void limitsChanged() {
    limitsChanged = true;
  }

  private void wakeAll() {
    for (int part = 0; part < nodes.parts(); part++) {
      nodes.visit(part, (node, at) -> wake(at));
    }
  }

  private void wake(NodeWaits at) {
    for (int i = 0; i < at.count; i++) {
      int job = at.jobs[i];
      if (at.isAsleep(job)
          && jobs.isActive(job)
          && isShort(at.node, at.level, job)
          && isReachable(at.node, at.level, job)) {
        at.setAsleep(job, false);
        arm(at, i);
      }
    }
  }

  // ---- from one world into the next

  int parts() {
    return nodes.parts();
  }

  /**
   * Takes over a part of the waits of the world before.
   *
   * @return how many
   */
  int carry(Reservations old, Change change, int part) {
    int[] count = new int[1];
    old.nodes.visit(
        part,
        (oldNode, from) -> {
          int node = change.newNode((int) oldNode);
          for (int i = 0; node >= 0 && i < from.count; i++) {
            int job = change.newJob(from.jobs[i]);
            if (job >= 0 && from.since[i] != NodeWaits.UNKNOWN) {
              carry(node, world.index.level(node), job, from.since[i]);
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
        || !world.index.wants(node, job)
        || !isAllowed(node, job)) {
      return;
    }
    NodeWaits at = nodes.get(node);
    int i = at == null ? -1 : at.find(job);
    if (at == null || i < 0) {
      begin(node, level, job, since);
    } else {
      setSince(at, i, since);
    }
  }

  /** Takes over what is held, when this world comes into force. */
  void takeOver(@Nullable Reservations old, Change change) {
    if (old == null) {
      return;
    }
    now = old.now;
    for (int j = 0; j < old.activeSince.length; j++) {
      int job = change.newJob(j);
      if (job >= 0 && old.jobs.isActive(j) && jobs.isActive(job)) {
        activeSince[job] = old.activeSince[j];
        activated.clear(job);
        if (old.activated.get(j)) {
          activated.set(job);
        }
      }
    }
    // Waits that were carried before jobs were active.
    wakeAll();
    for (NodeWaits from : old.held) {
      int node = change.newNode(from.node);
      int job = change.newJob(from.holder);
      NodeWaits at = node < 0 || job < 0 ? null : nodes.get(node);
      int i = at == null ? -1 : at.find(job);
      if (at != null
          && i >= 0
          && at.holder < 0
          && !isFull(job, at.level)
          && isReachable(node, at.level, job)
          && mayStart(node, at.level, job)) {
        hold(at, i, from.heldSince);
        at.idleSince = from.idleSince;
      }
    }
  }

  // ---- answers

  /** Whether a job lacks slots of a node when those that are kept for another one are left out. */
  boolean keepsFrom(int job, int node, int level, int resource) {
    NodeWaits at = heldAt(node, level);
    return at != null
        && at.holder != job
        && !Ledger.fits(
            jobs.needs[job][resource],
            world.ledger.free(node, level, resource) - jobs.needs[at.holder][resource]);
  }

  /** Of a node; null: it is kept free for nobody. */
  @Nullable Reservation of(int node, int level) {
    NodeWaits at = heldAt(node, level);
    return at == null ? null : reservation(at);
  }

  private Reservation reservation(NodeWaits at) {
    int task = waitingTask(at.node, at.holder);
    return new Reservation(
        topology.levels().name(at.level),
        topology.name(at.node),
        jobs.name(at.holder),
        task < 0 ? null : topology.name(task),
        at.heldSince,
        from(at, at.find(at.holder)),
        idleSlots(at));
  }

  /** Of all nodes, in no order. */
  List<Reservation> all() {
    return held.stream().map(this::reservation).toList();
  }

  int count() {
    return held.size();
  }

  /** Whether any node is held for a job. */
  boolean holdsAny(int job) {
    for (int level = 0; level < levels; level++) {
      if (holds[job * levels + level] > 0) {
        return true;
      }
    }
    return false;
  }

  /** Free slots of all nodes that others do not get. */
  long idleSlots() {
    return held.stream().mapToLong(this::idleSlots).sum();
  }

  private long idleSlots(NodeWaits at) {
    long idle = 0;
    for (int r : world.ledger.resources(at.level)) {
      int free = world.ledger.free(at.node, at.level, r);
      idle += Math.max(0, Math.min(free, jobs.needs[at.holder][r]));
    }
    return idle;
  }

  /** The first task in node order of those for which the node is held; -1: none is found. */
  private int waitingTask(int node, int job) {
    int at = node;
    while (!world.index.isReady(at, job)) {
      int end = Math.min(topology.childEnd(at), topology.childStart(at) + MOST_SCANNED);
      int next = -1;
      for (int slot = topology.childStart(at); next < 0 && slot < end; slot++) {
        next = world.index.isOpen(slot, job) ? topology.node(slot) : -1;
      }
      if (next < 0) {
        return -1;
      }
      at = next;
    }
    return at;
  }

  /**
   * Compares with what it follows from.
   *
   * @throws IllegalStateException names the first difference
   */
  void check() {
    int armed = 0;
    int[] counts = new int[holds.length];
    for (int node = 0; node < topology.size(); node++) {
      int level = world.index.level(node);
      NodeWaits at = nodes.get(node);
      for (int job = 0; job < jobs.count(); job++) {
        long[] watched = heavy.onLevel(level);
        boolean wants =
            watched != null
                && (watched[job >>> 6] & 1L << job) != 0
                && world.index.wants(node, job);
        int i = at == null ? -1 : at.find(job);
        boolean must = wants && isShort(node, level, job) && isAllowed(node, job);
        boolean isThere = at != null && i >= 0;
        boolean sleeps = at != null && i >= 0 && at.isAsleep(job);
        boolean looked =
            at != null
                && i >= 0
                && (at.armed[i] != 0
                    || at.queued[i]
                    || at.holder >= 0
                    || at.since[i] == NodeWaits.UNKNOWN);
        if ((must && !isThere)
            || (isThere && !wants)
            || (at != null && isThere != at.has(job))
            || (at != null && isThere && sleeps == looked && at.holder < 0)
            || (at != null && at.holder == job && !isThere)) {
          throw new IllegalStateException("the waits are wrong: job " + job + ", node " + node);
        }
        armed += at != null && i >= 0 && at.armed[i] != 0 ? 1 : 0;
      }
      if (at != null && at.holder >= 0) {
        counts[at.holder * levels + level]++;
        if (held.get(at.heldAt) != at || !jobs.isActive(at.holder)) {
          throw new IllegalStateException("node " + node + " is held in vain");
        }
      }
    }
    if (armed != armedCount || !Arrays.equals(counts, holds)) {
      throw new IllegalStateException("the counts of waits are wrong");
    }
  }
}
