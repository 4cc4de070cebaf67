package io.espalier.core.loop.watch;

import io.espalier.core.json.Json;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.scheduling.OverLimitScan;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Kills the youngest tasks where more slots than the limit have been in use for {@code
 * kill_over_limit_after_sec}. When a kill is due, one pass over the running tasks finds the
 * holders, in slices; lower levels of the tree come first, because slots released there also count
 * above.
 */
public final class OverLimitEnforcer {
  /** The pause between two passes, which gives tasks time to end. */
  private static final long PAUSE_MILLIS = 1_000;

  private static final int RUNS_PER_SLICE = 2_000;
  private static final int PLACES_PER_SLICE = 100;

  private static final Comparator<OverLimitScan.Found> LOWEST_AND_OLDEST_FIRST =
      Comparator.comparingInt(OverLimitScan.Found::levelIndex)
          .reversed()
          .thenComparingLong(OverLimitScan.Found::sinceMillis);

  private final SchedulingCore core;
  private final LiveTasks live;
  private final TaskKiller kills;
  private final LoopPorts.Warnings warnings;
  private final ArrayDeque<OverLimitScan.Found> places = new ArrayDeque<>();
  private @Nullable OverLimitScan scan;
  private long notBefore = Long.MIN_VALUE;

  public OverLimitEnforcer(
      SchedulingCore core, LiveTasks live, TaskKiller kills, LoopPorts.Warnings warnings) {
    this.core = core;
    this.live = live;
    this.kills = kills;
    this.warnings = warnings;
  }

  /** When the next check is due; {@link Long#MAX_VALUE} when nothing is to be killed. */
  public long nextMillis() {
    if (!core.config().settings().enabled()) {
      return Long.MAX_VALUE;
    }
    long next = core.capacity().nextOverLimitMillis();
    return next == Long.MAX_VALUE ? next : Math.max(next, notBefore);
  }

  /**
   * Performs a slice when it is due; does nothing while the scheduler is disabled.
   *
   * @return true when there is more to do at once
   */
  public boolean step(long nowMillis) {
    OverLimitScan current = scan;
    if (current == null || current.isStale()) {
      scan = null;
      places.clear();
      if (nowMillis < nextMillis()) {
        return false;
      }
      current = core.overLimits(nowMillis);
      scan = current;
    }
    if (places.isEmpty()) {
      if (!current.step(RUNS_PER_SLICE)) {
        return true;
      }
      List<OverLimitScan.Found> found = new ArrayList<>(current.found());
      found.sort(LOWEST_AND_OLDEST_FIRST);
      places.addAll(found);
    }
    for (int i = 0; i < PLACES_PER_SLICE && !places.isEmpty(); i++) {
      look(places.remove(), nowMillis);
    }
    if (!places.isEmpty()) {
      return true;
    }
    scan = null;
    notBefore = nowMillis + PAUSE_MILLIS;
    return false;
  }

  private void look(OverLimitScan.Found place, long nowMillis) {
    long over = (long) place.used() - place.limit();
    if (over <= 0) {
      return;
    }
    List<VictimSelection.Holder> holders = new ArrayList<>();
    for (int i = 0; i < place.holders(); i++) {
      Live task = live.ofRun(place.run(i));
      if (task != null) {
        holders.add(
            new VictimSelection.Holder(
                task.key.job(),
                task.key.node(),
                task.invocation().startMillis(),
                place.slots(i),
                task.killAskedMillis > 0));
      }
    }
    String why = why(place, nowMillis);
    for (VictimSelection.Holder holder : VictimSelection.choose(holders, over)) {
      Live task = live.get(new TaskKey(holder.job(), holder.node()));
      if (task != null) {
        kills.overLimit(task, why, about(place), nowMillis);
        warnings.warn(why, holder.job(), holder.node());
      }
    }
  }

  private static String why(OverLimitScan.Found place, long nowMillis) {
    return String.format(
        Locale.ROOT,
        "killed as one of the youngest: %d of %s were in use on %s of level %s for %d s, its limit"
            + " is %d",
        place.used(),
        place.resource(),
        place.node(),
        place.level(),
        (nowMillis - place.sinceMillis()) / 1000,
        place.limit());
  }

  private static Json.Obj about(OverLimitScan.Found place) {
    return Json.object()
        .put("level", place.level())
        .put("over_node", place.node())
        .put("resource", place.resource())
        .put("used", place.used())
        .put("limit", place.limit())
        .put("over_since_ms", place.sinceMillis())
        .build();
  }
}
