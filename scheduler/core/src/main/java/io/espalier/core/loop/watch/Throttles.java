package io.espalier.core.loop.watch;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobScheduling.AtWindowEnd;
import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Throttle;
import io.espalier.core.scheduling.SchedulingCore;
import org.jspecify.annotations.Nullable;

/**
 * Tells running tasks how fast to work, at most once a second: those that hold slots of a limit
 * that follows a probe (docs/probes.md#tasks-that-slow-down), those under a brake that slows down
 * running tasks (docs/steering.md#brakes), and those whose window has ended, which it kills where
 * their job says so (docs/windows.md#what-happens-at-the-end). Looks at all tasks, in slices, when
 * a limit or a window has changed or tasks have been started; at none where nothing is configured.
 */
public final class Throttles implements RoundStep {
  private static final Throttle WINDOW_ENDS = new Throttle(0, "window ends");
  private static final long PAUSE_MILLIS = 1_000;
  private static final int TASKS_PER_STEP = 2_000;
  private static final int AT_REST = -1;

  private final SchedulingCore core;
  private final HealthLimits health;
  private final WindowGates windows;
  private final BrakeCommands brakes;
  private final LiveTasks live;
  private final TaskKiller kills;
  private final TaskRunner runner;
  private @Nullable Config config;
  private boolean isConfigured;
  private long seen;
  private long brakesSeen;
  private long started;
  private boolean isDue;
  private int place = AT_REST;
  private long next = Long.MIN_VALUE;

  public Throttles(
      SchedulingCore core,
      HealthLimits health,
      WindowGates windows,
      BrakeCommands brakes,
      LiveTasks live,
      TaskKiller kills,
      TaskRunner runner) {
    this.core = core;
    this.health = health;
    this.windows = windows;
    this.brakes = brakes;
    this.live = live;
    this.kills = kills;
    this.runner = runner;
  }

  @Override
  public boolean step(long nowMillis) {
    notice();
    if (place == AT_REST) {
      if (!isDue || nowMillis < next) {
        return false;
      }
      isDue = false;
      place = 0;
      next = nowMillis + PAUSE_MILLIS;
    }
    int end = Math.min(live.high(), place + TASKS_PER_STEP);
    for (; place < end; place++) {
      Live task = live.at(place);
      if (task != null) {
        look(task, nowMillis);
      }
    }
    place = place < live.high() ? place : AT_REST;
    return false;
  }

  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  private void notice() {
    if (config != core.config()) {
      config = core.config();
      boolean was = isConfigured;
      isConfigured =
          !config.settings().rules().health().isEmpty()
              || config.jobs().values().stream()
                  .anyMatch(job -> job.scheduling().atWindowEnd() != AtWindowEnd.FINISH);
      isDue |= was || isConfigured;
    }
    long changes = health.changes() + windows.changes();
    boolean isWatched = isConfigured || brakes.throttlesRunning();
    isDue |= isWatched && (seen != changes || started != live.added());
    isDue |= brakesSeen != brakes.throttleChanges();
    brakesSeen = brakes.throttleChanges();
    seen = changes;
    started = live.added();
  }

  @Override
  public boolean isBehind() {
    return place != AT_REST;
  }

  @Override
  public boolean isOpening() {
    return false;
  }

  @Override
  public long nextMillis() {
    return isDue ? next : Long.MAX_VALUE;
  }

  private void look(Live task, long nowMillis) {
    Throttle newest =
        slower(health.throttle(task.run, nowMillis), brakes.throttle(task, nowMillis));
    AtWindowEnd end = atWindowEnd(task, nowMillis);
    if (end == AtWindowEnd.KILL) {
      kills.windowEnded(task, nowMillis);
    } else if (end == AtWindowEnd.ASK) {
      newest = WINDOW_ENDS;
    }
    if (newest == null && task.throttle == null) {
      return;
    }
    Throttle now = newest == null ? Throttle.NONE : newest;
    if (!task.dispatched && !task.resumed) {
      isDue |= now.ratio() < 1;
      return;
    }
    // What an earlier scheduler has said to a task is not known.
    boolean isNews =
        task.throttle == null
            ? task.resumed || now.ratio() < 1
            : task.throttle.ratio() != now.ratio();
    if (isNews) {
      task.throttle = now;
      live.changed(task);
      task.wasThrottled |= now.ratio() < 1;
      runner.throttle(task.key.job(), task.key.node(), task.invocation(), now);
    }
  }

  private static @Nullable Throttle slower(@Nullable Throttle one, @Nullable Throttle other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return other.ratio() < one.ratio() ? other : one;
  }

  /** What is to happen to a task now. */
  private AtWindowEnd atWindowEnd(Live task, long nowMillis) {
    Job job = core.config().job(task.key.job());
    boolean asks = job != null && job.scheduling().atWindowEnd() != AtWindowEnd.FINISH;
    return job != null && asks && windows.hasEnded(job, task.run, nowMillis)
        ? job.scheduling().atWindowEnd()
        : AtWindowEnd.FINISH;
  }
}
