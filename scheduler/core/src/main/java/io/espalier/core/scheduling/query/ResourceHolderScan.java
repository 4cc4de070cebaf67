package io.espalier.core.scheduling.query;

import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the running tasks that hold slots of given resources on given nodes, in one pass over the
 * running tasks, in slices. It needs no bookkeeping at starts and ends. Tasks that start or end
 * between two slices may be missing or superfluous; when jobs or nodes are renumbered, the pass
 * begins again.
 *
 * <p>{@code TaskQueries.holders} creates it; use it on the thread of the core.
 */
public final class ResourceHolderScan {
  private final Supplier<SchedulingState> current;
  private final Place[] places;
  private @Nullable SchedulingState state;
  private int[] nodes = {};
  private int[] resources = {};
  private int[] levels = {};
  private int next;

  /**
   * A node on which slots are held.
   *
   * @param resource the resource name; empty: all of the level
   */
  public record Place(String level, String node, String resource) {}

  /** Receives the tasks that hold slots. */
  public interface Sink {
    /** Begins a pass, also again; all earlier results are invalid. */
    void begin();

    /**
     * Receives the slots that a task holds.
     *
     * @param place the index of the place
     * @param run the running task, as {@code SchedulingCore.round} reported it
     * @param resource the name of the resource
     * @param slots at least 1
     */
    void holds(int place, long run, String resource, int slots);
  }

  public ResourceHolderScan(Supplier<SchedulingState> current, Place[] places) {
    this.current = current;
    this.places = places.clone();
  }

  /**
   * Runs a slice.
   *
   * @param limit the maximum number of running tasks to check
   * @return true when the pass is complete
   */
  public boolean step(int limit, Sink sink) {
    SchedulingState now = current.get();
    if (now != state) {
      state = now;
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
