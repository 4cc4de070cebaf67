package io.espalier.cli.bench;

import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.server.app.Plugins;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs points of the paper's Figure 4, one after the other. It reuses the nodes of the last point
 * if the next has the same size. Not thread-safe.
 */
final class PaperExperiment {
  private static final PaperPoint WARM_UP = new PaperPoint("", 0, 6_000, 10, 1, -1);

  private final Plugins plugins = Plugins.load();
  private final WorkClock.Kind clock;
  private final long seed;
  private final boolean statuses;
  private @Nullable PaperWorld last;
  private int lastHosts;

  /**
   * @param seed of placements and durations
   * @param statuses whether every task gets its statuses as in the scheduler's loop; otherwise
   *     tasks are only placed and ended
   */
  PaperExperiment(WorkClock.Kind clock, long seed, boolean statuses) {
    this.statuses = statuses;
    this.clock = clock;
    this.seed = seed;
  }

  /** Runs the code before the measurement, so that the compiler has optimized it. */
  void warmUp() {
    if (clock != WorkClock.Kind.NONE) {
      run(WARM_UP);
      run(WARM_UP);
    }
  }

  PaperResult run(PaperPoint point) {
    PaperWorld world = world(point);
    SchedulingPolicy policy =
        Objects.requireNonNull(plugins.policies().get(world.config().settings().policy()));
    return new VirtualRun(point, world, policy, clock.open(), seed, statuses).run();
  }

  private PaperWorld world(PaperPoint point) {
    PaperWorld known = last;
    if (known == null || lastHosts != point.hosts()) {
      last = null; // two large trees at once would not fit
      known = PaperWorld.of(point, plugins);
    } else {
      known = known.with(point, plugins);
    }
    last = known;
    lastHosts = point.hosts();
    return known;
  }
}
