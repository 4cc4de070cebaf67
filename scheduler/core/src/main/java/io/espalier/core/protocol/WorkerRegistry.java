package io.espalier.core.protocol;

import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The registered workers with their timers, and those that need attention in this step. */
final class WorkerRegistry {
  /** How often measurements are told, since that costs a look at the whole pool. */
  private static final long MEASUREMENTS_MILLIS = 5_000;

  private final Map<WorkerRef, RemoteWorker> workers = new LinkedHashMap<>();
  private final Map<String, RemoteWorker> byShard = new HashMap<>();
  private final PriorityQueue<Due> timers =
      new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::order));
  private Set<RemoteWorker> dirty = new LinkedHashSet<>();
  private boolean changed;

  /** Whether it has no worker but lost ones; null: it has changed since somebody asked. */
  private @Nullable Boolean deserted;

  private boolean measured;
  private long toldMillis;
  private long orders;

  private record Due(long at, long order, RemoteWorker worker) {}

  @Nullable RemoteWorker get(WorkerRef ref) {
    return workers.get(ref);
  }

  /** The process that has the shard name now. */
  @Nullable RemoteWorker ofShard(String shard) {
    return byShard.get(shard);
  }

  void put(RemoteWorker worker) {
    RemoteWorker before = byShard.put(worker.ref.shard(), worker);
    if (before != null && before != worker && before.isLost()) {
      remove(before);
    }
    workers.put(worker.ref, worker);
    changed();
  }

  void remove(RemoteWorker worker) {
    workers.remove(worker.ref);
    byShard.remove(worker.ref.shard(), worker);
    worker.armedAt = Long.MAX_VALUE;
    changed();
  }

  Collection<RemoteWorker> all() {
    return workers.values();
  }

  /** The workers whose shards are in exactly one of the sets. */
  List<RemoteWorker> ofShards(Set<String> some, Set<String> others) {
    List<RemoteWorker> found = new ArrayList<>();
    for (String shard : new TreeSet<>(some)) {
      add(found, others.contains(shard) ? null : byShard.get(shard));
    }
    for (String shard : new TreeSet<>(others)) {
      add(found, some.contains(shard) ? null : byShard.get(shard));
    }
    return found;
  }

  private static void add(List<RemoteWorker> found, @Nullable RemoteWorker worker) {
    if (worker != null) {
      found.add(worker);
    }
  }

  /** Marks a worker for attention at the end of this step. */
  void dirty(RemoteWorker worker) {
    dirty.add(worker);
  }

  Set<RemoteWorker> takeDirty() {
    Set<RemoteWorker> taken = dirty;
    dirty = new LinkedHashSet<>();
    return taken;
  }

  /** A worker or its state has changed, which is to be told. */
  void changed() {
    changed = true;
    deserted = null;
  }

  /** Returns whether it has no worker but lost ones. */
  boolean isDeserted() {
    if (deserted == null) {
      deserted = workers.values().stream().allMatch(RemoteWorker::isLost);
    }
    return deserted;
  }

  /** A worker has measured how busy it is; that alone is told from time to time only. */
  void measured() {
    measured = true;
  }

  /** Returns whether the pool is to be told. */
  boolean takeChanged(long nowMillis) {
    boolean is = changed || (measured && nowMillis >= toldMillis + MEASUREMENTS_MILLIS);
    if (is) {
      changed = false;
      measured = false;
      toldMillis = nowMillis;
    }
    return is;
  }

  /** Makes sure that the worker's timer fires at that time at the latest. */
  void arm(RemoteWorker worker, long at) {
    if (workers.get(worker.ref) == worker && at < worker.armedAt) {
      worker.armedAt = at;
      timers.add(new Due(at, ++orders, worker));
    }
  }

  /** The next worker whose timer has fired; null when there is none. */
  @Nullable RemoteWorker due(long now) {
    while (!timers.isEmpty() && timers.element().at() <= now) {
      Due first = timers.remove();
      if (first.worker().armedAt == first.at()) {
        first.worker().armedAt = Long.MAX_VALUE;
        return first.worker();
      }
    }
    return null;
  }

  long nextDue() {
    return timers.isEmpty() ? Long.MAX_VALUE : timers.element().at();
  }
}
