package io.espalier.core.scheduling.query;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the running tasks that hold slots of some resources on some nodes, in one pass over what
 * runs, a slice at a time. Nothing is kept for it at starts and ends. What starts or ends between
 * two slices may be missing or too much; after a change of jobs or nodes the pass begins again.
 *
 * <p>Made by {@link SchedulingCore#holders}; for the same thread as the core.
 */
public final class ResourceHolderScan {
  private final Supplier<SchedulingState> current;
  private final Place[] places;
  private @Nullable SchedulingState world;
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

  public ResourceHolderScan(Supplier<SchedulingState> current, Place[] places) {
    this.current = current;
    this.places = places.clone();
  }

  /**
   * Does a slice.
   *
   * @param limit how many running tasks to look at
   * @return whether the pass is complete
   */
  public boolean step(int limit, Sink sink) {
    SchedulingState now = current.get();
    if (now != world) {
      world = now;
      sink.begin();
      begin(now);
    }
    RunningTasks runs = now.runs;
    int end = Math.min(runs.high(), next + limit);
    for (; next < end; next++) {
      if (runs.isUsed(next)) {
        look(now, runs, next, sink);
      }
    }
    return next >= runs.high();
  }

  private void begin(SchedulingState now) {
    next = 0;
    nodes = new int[places.length];
    resources = new int[places.length];
    levels = new int[places.length];
    for (int i = 0; i < places.length; i++) {
      levels[i] = now.topology.levels().find(places[i].level());
      if (levels[i] >= now.topology.levels().worker()) {
        levels[i] = -1;
      }
      nodes[i] = levels[i] < 0 ? -1 : now.topology.find(levels[i], places[i].node());
      resources[i] = -1;
      for (int r = 0; nodes[i] >= 0 && r < now.ledger.resourceCount(); r++) {
        if (resourceName(now, r).equals(places[i].resource())) {
          resources[i] = r;
        }
      }
    }
  }

  private void look(SchedulingState now, RunningTasks runs, int run, Sink sink) {
    for (int i = 0; i < places.length; i++) {
      if (nodes[i] < 0 || now.places.node(run, levels[i]) != nodes[i]) {
        continue;
      }
      int[] amounts = now.places.amounts(run);
      if (resources[i] >= 0) {
        report(now, i, runs.id(run), resources[i], amounts, sink);
      } else if (places[i].resource().isEmpty()) {
        for (int r : now.ledger.resources(levels[i])) {
          report(now, i, runs.id(run), r, amounts, sink);
        }
      }
    }
  }

  private static void report(
      SchedulingState now, int place, long run, int resource, int[] amounts, Sink sink) {
    if (amounts[resource] > 0) {
      sink.holds(place, run, resourceName(now, resource), amounts[resource]);
    }
  }

  private static String resourceName(SchedulingState now, int resource) {
    return now.config().settings().resources().get(resource).name();
  }
}
