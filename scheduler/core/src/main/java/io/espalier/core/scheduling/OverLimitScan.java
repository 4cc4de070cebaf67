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
 * The places where more than the limit has been in use for so long that tasks are to be killed, and
 * who holds slots there: one pass over what runs, a slice at a time. What starts or ends between
 * two slices may be missing or too much.
 *
 * <p>Made by {@link SchedulingCore#overLimits}; for the same thread as the core.
 */
public final class OverLimitScan {
  /** So many places are looked at in one pass; the others in the next. */
  private static final int MOST_PLACES = 2_000;

  private final SchedulingCore core;
  private final SchedulingState world;

  /** Those of which places are due, and since when at the latest. */
  private final List<Resource> resources = new ArrayList<>();

  private final List<Long> latest = new ArrayList<>();

  /** By resource, as they are listed: place to index in {@link #found}. */
  private final List<Map<Integer, Integer>> places = new ArrayList<>();

  private final List<Found> found = new ArrayList<>();

  /** How far places have been gathered: the index of a resource, and a part of its places. */
  private int gathering;

  private int part;
  private int next;

  /** A place, and the running tasks that hold slots there. */
  public static final class Found {
    private final SchedulingState world;
    private final Resource resource;
    private final int at;
    private final long since;
    private long[] runs = new long[4];
    private int[] slots = new int[4];
    private int count;

    private Found(SchedulingState world, Resource resource, int at, long since) {
      this.world = world;
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
      return resource.level() == world.topology.levels().worker();
    }

    /** Index of its level. */
    public int levelIndex() {
      return resource.level();
    }

    /** The name of its level. */
    public String level() {
      return world.topology.levels().name(resource.level());
    }

    /** The name of the node, or of the worker. */
    public String node() {
      if (!isWorker()) {
        return world.topology.name(world.ledger.nodeOf(at, resource.level()));
      }
      String shard = world.pool.shard(at);
      return shard.isEmpty() ? world.topology.name(0) : shard;
    }

    /** The name of the resource. */
    public String resource() {
      return resource.name();
    }

    /** Slots in all. */
    public int limit() {
      return isWorker()
          ? world.workers.limitOfResource(at, resource.index())
          : world.ledger.limit(
              world.ledger.nodeOf(at, resource.level()), resource.level(), resource.index());
    }

    /** Slots in use. */
    public int used() {
      return isWorker()
          ? world.workers.usedOfResource(at, resource.index())
          : limit()
              - world.ledger.free(
                  world.ledger.nodeOf(at, resource.level()), resource.level(), resource.index());
    }

    /** Since when more has been in use than the limit. */
    public long sinceMillis() {
      return since;
    }

    /** How many tasks hold slots. */
    public int holders() {
      return count;
    }

    /** One of them, as {@link SchedulingCore#round} gave it. */
    public long run(int holder) {
      return runs[holder];
    }

    /** What it holds, at least 1. */
    public int slots(int holder) {
      return slots[holder];
    }
  }

  OverLimitScan(SchedulingCore core, long nowMillis) {
    this.core = core;
    this.world = core.world();
    for (Resource resource : world.config().settings().resources().all()) {
      long delay = world.killOverLimitMillis(resource);
      if (delay >= 0 && world.over.first(resource.index()) <= nowMillis - delay) {
        resources.add(resource);
        latest.add(nowMillis - delay);
        places.add(new HashMap<>());
      }
    }
  }

  /**
   * Finds the places that are due.
   *
   * @return how many were looked at
   */
  private int gather() {
    if (gathering == resources.size() || found.size() >= MOST_PLACES) {
      gathering = resources.size();
      return 0;
    }
    Resource resource = resources.get(gathering);
    if (part == world.over.parts(resource.index())) {
      part = 0;
      gathering++;
      return 1;
    }
    long due = latest.get(gathering);
    Map<Integer, Integer> known = places.get(gathering);
    return 1
        + world.over.visit(
            resource.index(),
            part++,
            (place, since) -> {
              if (since <= due) {
                known.put((int) place, found.size());
                found.add(new Found(world, resource, (int) place, since));
              }
            });
  }

  /** Whether jobs or nodes have changed, so that it must begin again. */
  public boolean isStale() {
    return core.world() != world;
  }

  /**
   * Does a slice.
   *
   * @param limit how many places and running tasks to look at
   * @return whether the pass is complete
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
    int worker = world.topology.levels().worker();
    for (int i = 0; i < resources.size(); i++) {
      Resource resource = resources.get(i);
      int slots = amount(run, resource.index());
      if (slots <= 0) {
        continue;
      }
      int level = resource.level();
      int node = level == worker ? world.places.worker(run) : world.places.node(run, level);
      if (node >= 0) {
        int place = level == worker ? node : world.ledger.place(node, level, resource.index());
        Integer index = places.get(i).get(place);
        if (index != null) {
          found.get(index).add(id, slots);
        }
      }
    }
  }

  private int amount(int run, int resource) {
    int[] amounts = world.places.amounts(run);
    return resource < amounts.length ? amounts[resource] : 0;
  }

  /** What was found, in no order, once the pass is complete. */
  public List<Found> found() {
    return found;
  }
}
