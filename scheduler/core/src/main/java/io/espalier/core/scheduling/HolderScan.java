package io.espalier.core.scheduling;

import org.jspecify.annotations.Nullable;

/**
 * Finds the running tasks that hold slots of some resources on some nodes, in one pass over what
 * runs, a slice at a time. Nothing is kept for it at starts and ends. What starts or ends between
 * two slices may be missing or too much; after a change of jobs or nodes the pass begins again.
 *
 * <p>Made by {@link SchedulingCore#holders}; for the same thread as the core.
 */
public final class HolderScan {
  private final SchedulingCore core;
  private final Place[] places;
  private @Nullable World world;
  private int[] nodes = {};
  private int[] resources = {};
  private int[] levels = {};
  private int next;

  /**
   * Where slots are held.
   *
   * @param resource its name; empty: all of the level
   */
  public record Place(String level, String node, String resource) {}

  /** Is told who holds what. */
  public interface Sink {
    /** Forget all that was said before: the pass begins again. */
    void begin();

    /**
     * @param place index of the place
     * @param run of the holder, as {@link SchedulingCore#round} gave it
     * @param resource its name
     * @param slots at least 1
     */
    void holds(int place, long run, String resource, int slots);
  }

  HolderScan(SchedulingCore core, Place[] places) {
    this.core = core;
    this.places = places.clone();
  }

  /**
   * Does a slice.
   *
   * @param limit how many running tasks to look at
   * @return whether the pass is complete
   */
  public boolean step(int limit, Sink sink) {
    World current = core.world();
    if (current != world) {
      world = current;
      sink.begin();
      begin(current);
    }
    RunTable runs = core.runTable();
    int end = Math.min(runs.high(), next + limit);
    for (; next < end; next++) {
      if (runs.isUsed(next)) {
        look(current, runs, next, sink);
      }
    }
    return next >= runs.high();
  }

  private void begin(World current) {
    next = 0;
    nodes = new int[places.length];
    resources = new int[places.length];
    levels = new int[places.length];
    for (int i = 0; i < places.length; i++) {
      levels[i] = current.topology.levels().find(places[i].level());
      if (levels[i] >= current.topology.levels().worker()) {
        levels[i] = -1;
      }
      nodes[i] = levels[i] < 0 ? -1 : current.topology.find(levels[i], places[i].node());
      resources[i] = -1;
      for (int r = 0; nodes[i] >= 0 && r < current.ledger.resourceCount(); r++) {
        if (resourceName(current, r).equals(places[i].resource())) {
          resources[i] = r;
        }
      }
    }
  }

  private void look(World current, RunTable runs, int run, Sink sink) {
    for (int i = 0; i < places.length; i++) {
      if (nodes[i] < 0 || current.places.node(run, levels[i]) != nodes[i]) {
        continue;
      }
      int[] amounts = current.places.amounts(run);
      if (resources[i] >= 0) {
        report(current, i, runs.id(run), resources[i], amounts, sink);
      } else if (places[i].resource().isEmpty()) {
        for (int r : current.ledger.resources(levels[i])) {
          report(current, i, runs.id(run), r, amounts, sink);
        }
      }
    }
  }

  private static void report(
      World current, int place, long run, int resource, int[] amounts, Sink sink) {
    if (amounts[resource] > 0) {
      sink.holds(place, run, resourceName(current, resource), amounts[resource]);
    }
  }

  private static String resourceName(World current, int resource) {
    return current.config().settings().resources().get(resource).name();
  }
}
