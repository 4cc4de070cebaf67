package io.espalier.core.scheduling;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A scan for the places whose usage has exceeded the limit so long that tasks must be killed, and
 * for the tasks that hold slots there. It makes one pass over the running tasks, in slices. Tasks
 * that start or end between two slices may be missing or superfluous.
 *
 * <p>{@link SchedulingCore#overLimits} creates it; use it on the thread of the core.
 */
public final class OverLimitScan {
  /** The maximum number of places in one pass; the next pass covers the others. */
  private static final int MOST_PLACES = 2_000;

  private final SchedulingCore core;
  private final SchedulingState state;

  /** The resources with due places, and the latest over-limit start of a due place. */
  private final List<Resource> resources = new ArrayList<>();

  private final List<Long> latest = new ArrayList<>();

  /** By resource, in the order of the list: index in {@link #found} by place. */
  private final List<Map<Integer, Integer>> places = new ArrayList<>();

  private final List<Found> found = new ArrayList<>();

  /** The progress of the gathering phase: the index of a resource, and a part of its places. */
  private int gathering;

  private int part;
  private int next;

  /** A place, and the running tasks that hold slots there. */
  public static final class Found {
    private final SchedulingState state;
    private final Resource resource;
    private final int at;
    private final long since;
    private long[] runs = new long[4];
    private int[] slots = new int[4];
    private int count;

    private Found(SchedulingState state, Resource resource, int at, long since) {
      this.state = state;
      this.resource = resource;
      this.at = at;
      this.since = since;
    }

    private void add(long run, int amount) {
      if (count == runs.length) {
        runs = Arrays.copyOf(runs, 2 * count);
        slots = Arrays.copyOf(slots, 2 * count);
      }
      runs[count] = run;
      slots[count++] = amount;
    }

    private boolean isWorker() {
      return resource.level() == state.topology.levels().worker();
    }

    public int levelIndex() {
      return resource.level();
    }

    public String level() {
      return state.topology.levels().name(resource.level());
    }

    /** Returns the name of the node or worker. */
    public String node() {
      if (!isWorker()) {
        return state.topology.name(state.ledger.nodeOf(at, resource.level()));
      }
      String shard = state.pool.shard(at);
      return shard.isEmpty() ? state.topology.name(0) : shard;
    }

    public String resource() {
      return resource.name();
    }

    public int limit() {
      return isWorker()
          ? state.workers.capacity().limitOfResource(at, resource.index())
          : state.ledger.base(state.ledger.nodeOf(at, resource.level()), resource.index());
    }

    /** Returns the slots in use. */
    public int used() {
      return isWorker()
          ? state.workers.capacity().usedOfResource(at, resource.index())
          : state.ledger.used(
              state.ledger.nodeOf(at, resource.level()), resource.level(), resource.index());
    }

    /** Returns since when usage has exceeded the limit. */
    public long sinceMillis() {
      return since;
    }

    /** Returns the number of tasks that hold slots. */
    public int holders() {
      return count;
    }

    /** Returns one of the tasks, as {@link SchedulingCore#round} reported it. */
    public long run(int holder) {
      return runs[holder];
    }

    /** Returns the slots that a task holds, at least 1. */
    public int slots(int holder) {
      return slots[holder];
    }
  }

  OverLimitScan(SchedulingCore core, long nowMillis) {
    this.core = core;
    this.state = core.state();
    for (Resource resource : state.config().settings().resources().all()) {
      long delay = state.bounds.killAfterMillis(resource);
      if (delay >= 0 && state.over.first(resource.index()) <= nowMillis - delay) {
        resources.add(resource);
        latest.add(nowMillis - delay);
        places.add(new HashMap<>());
      }
    }
  }

  /**
   * Gathers the places that are due.
   *
   * @return the number of places checked
   */
  private int gather() {
    if (gathering == resources.size() || found.size() >= MOST_PLACES) {
      gathering = resources.size();
      return 0;
    }
    Resource resource = resources.get(gathering);
    if (part == state.over.parts(resource.index())) {
      part = 0;
      gathering++;
      return 1;
    }
    long due = latest.get(gathering);
    Map<Integer, Integer> known = places.get(gathering);
    return 1
        + state.over.visit(
            resource.index(),
            part++,
            (place, since) -> {
              if (since <= due) {
                known.put((int) place, found.size());
                found.add(new Found(state, resource, (int) place, since));
              }
            });
  }

  /** Returns whether jobs or nodes have been renumbered, so that the scan must be restarted. */
  public boolean isStale() {
    return core.state() != state;
  }

  /**
   * Runs a slice of the scan.
   *
   * @param limit the maximum number of places and running tasks to check
   * @return true when the pass is complete
   */
  public boolean step(int limit) {
    RunningTasks runs = core.runTable();
    int left = limit;
    while (left > 0 && gathering < resources.size()) {
      left -= gather();
    }
    if (gathering < resources.size()) {
      return false;
    }
    int end = (int) Math.min(runs.high(), (long) next + Math.max(0, left));
    for (; next < end && !found.isEmpty(); next++) {
      if (runs.isUsed(next)) {
        look(next, runs.id(next));
      }
    }
    return found.isEmpty() || next >= runs.high();
  }

  private void look(int run, long id) {
    int worker = state.topology.levels().worker();
    for (int i = 0; i < resources.size(); i++) {
      Resource resource = resources.get(i);
      int slots = amount(run, resource.index());
      if (slots <= 0) {
        continue;
      }
      int level = resource.level();
      int node = level == worker ? state.places.worker(run) : state.places.node(run, level);
      if (node >= 0) {
        int place = level == worker ? node : state.ledger.place(node, level, resource.index());
        Integer index = places.get(i).get(place);
        if (index != null) {
          found.get(index).add(id, slots);
        }
      }
    }
  }

  private int amount(int run, int resource) {
    int[] amounts = state.places.amounts(run);
    return resource < amounts.length ? amounts[resource] : 0;
  }

  /** Returns the places found, unordered, once the pass is complete. */
  public List<Found> found() {
    return found;
  }
}
