package io.espalier.core.loop;

import io.espalier.core.api.view.WatchdogFindings;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Watches the runner (docs/design/features.md#supervision): finds tasks that exceed their time,
 * tasks that were never handed to the runner, kills without effect, and leaked slots. It is
 * independent of the normal path of ending tasks: it trusts neither the runner's timers nor its
 * answers, only the list of live invocations.
 *
 * <p>It makes one pass every {@link #INTERVAL_MILLIS} while anything is alive, in slices. A finding
 * is a current problem until a later pass no longer finds it. It repairs only what is safe to
 * repair: it repeats kills, harder each time for a task that exceeds a limit, and it reports the
 * end of a task that the runner did not have in two consecutive passes.
 */
final class RunnerWatchdog {
  static final long INTERVAL_MILLIS = 10_000;

  /** The tolerance beyond each limit, for a runner that is busy or started the process late. */
  static final long GRACE_MILLIS = 30_000;

  /** The longest usual time from the decision to start a task until that start is durable. */
  static final long STARTING_MILLIS = 60_000;

  private static final int TASKS_PER_SLICE = 1_000;
  private static final int NAMED = 3;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final TaskKiller kills;
  private final TaskRunner runner;
  private final Consumer<TaskResult> ended;

  private final Finding overdue = new Finding("run past their time limit");
  private final Finding starting =
      new Finding("were to start and have not been handed to the runner");
  private final Finding unanswered = new Finding("live on although they were to be killed");
  private final Finding leaked = new Finding("hold slots without being alive, or the contrary");

  /** Invocations that the runner did not have in the previous pass. */
  private Set<Invocation> missing = Set.of();

  private Set<Invocation> missingNow = new HashSet<>();

  /** The number of the next live task in the current pass. */
  private int at;

  private boolean underWay;
  private long next = Long.MAX_VALUE;
  private long repairs;
  private WatchdogFindings findings = WatchdogFindings.NONE;

  RunnerWatchdog(
      SchedulingCore core,
      LiveTasks live,
      TaskKiller kills,
      TaskRunner runner,
      Consumer<TaskResult> ended) {
    this.core = core;
    this.live = live;
    this.kills = kills;
    this.runner = runner;
    this.ended = ended;
  }

  /** One kind of finding in the current pass. */
  private static final class Finding {
    private final String what;
    private final List<String> named = new ArrayList<>();
    private int count;

    Finding(String what) {
      this.what = what;
    }

    void add(String who) {
      count++;
      if (named.size() < NAMED) {
        named.add(who);
      }
    }

    String sentence() {
      return count
          + (count == 1 ? " task: " : " tasks: ")
          + what
          + ": "
          + String.join(", ", named)
          + (count > named.size() ? " and others" : "");
    }

    void reset() {
      count = 0;
      named.clear();
    }
  }

  /** When the next pass is due; {@link Long#MAX_VALUE} while there is nothing to check. */
  long nextMillis() {
    return next;
  }

  /**
   * Continues a pass, or begins one when it is due.
   *
   * @param views receives the problems at the end of a pass
   * @return true when there is more to do at once
   */
  boolean step(long nowMillis, ViewPublisher views) {
    if (!underWay) {
      boolean nothing = live.size() == 0 && core.running().count() == 0 && !hasFindings();
      if (nothing) {
        next = Long.MAX_VALUE;
        return false;
      }
      if (next == Long.MAX_VALUE) {
        next = nowMillis + INTERVAL_MILLIS;
      }
      if (nowMillis < next) {
        return false;
      }
      begin();
    }
    int end = Math.min(live.high(), at + TASKS_PER_SLICE);
    for (; at < end; at++) {
      Live task = live.at(at);
      if (task != null) {
        look(task, nowMillis);
        if (!core.running().isRunning(task.run)) {
          leaked.add(name(task) + " (no slots)");
        }
      }
    }
    if (at < live.high()) {
      return true;
    }
    slots();
    publish(nowMillis, views);
    return false;
  }

  private boolean hasFindings() {
    return findings.overdue() + findings.starting() + findings.unanswered() + findings.leaked() > 0;
  }

  private void begin() {
    underWay = true;
    at = 0;
    missingNow = new HashSet<>();
    overdue.reset();
    starting.reset();
    unanswered.reset();
    leaked.reset();
  }

  private void look(Live task, long now) {
    if (!task.dispatched) {
      if (now - task.invocation().startMillis() > STARTING_MILLIS) {
        starting.add(name(task) + " (" + seconds(now - task.invocation().startMillis()) + ")");
      }
      return;
    }
    if (!runner.mayBeAlive(task.key.job(), task.key.node(), task.invocation())) {
      missing(task, now);
      return;
    }
    long late = now - task.limits.endMillis();
    if (task.limits.endMillis() != Long.MAX_VALUE && late > GRACE_MILLIS + task.killWaitMillis) {
      overdue.add(name(task) + " (by " + seconds(late) + ")");
      boolean hard = task.overdue != null;
      task.overdue = reason(task);
      String over =
          task.overdue == StopReason.DEADLINE ? "its deadline has passed" : "its time is over";
      kills.insist(task, hard, over, now);
      repairs++;
    } else if (task.killAskedMillis > 0
        && now - task.killAskedMillis > GRACE_MILLIS + task.killWaitMillis) {
      unanswered.add(name(task) + " (asked " + seconds(now - task.killAskedMillis) + " ago)");
      kills.insist(task, task.killMustWork, task.killReason, now);
      repairs++;
    }
  }

  private static StopReason reason(Live task) {
    return task.limits.endMillis() == task.limits.deadlineMillis()
        ? StopReason.DEADLINE
        : StopReason.TIMEOUT;
  }

  /** Reports a task as lost only when it is missing in two passes: its end may be on its way. */
  private void missing(Live task, long now) {
    missingNow.add(task.invocation());
    if (!missing.contains(task.invocation())) {
      return;
    }
    leaked.add(name(task));
    repairs++;
    ended.accept(
        TaskResult.lost(
            task.key.job(),
            task.key.node(),
            task.invocation(),
            "its runner does not have it and never told its end",
            now));
  }

  /** Checks that only live tasks occupy slots. Searches only when the counts differ. */
  private void slots() {
    if (core.running().count() == live.size()) {
      return;
    }
    Set<Long> known = new HashSet<>();
    live.all().forEach(task -> known.add(task.run));
    for (long run : core.running().all()) {
      if (!known.contains(run)) {
        leaked.add(
            core.running().jobName(run) + " on " + core.running().nodeName(run) + " (not alive)");
      }
    }
  }

  private void publish(long now, ViewPublisher views) {
    underWay = false;
    missing = missingNow;
    next = now + INTERVAL_MILLIS;
    findings =
        new WatchdogFindings(
            findings.passes() + 1,
            overdue.count,
            starting.count,
            unanswered.count,
            leaked.count,
            repairs);
    views.error("supervisor: overdue", overdue.count == 0 ? null : overdue.sentence());
    views.error("supervisor: starting", starting.count == 0 ? null : starting.sentence());
    views.error("supervisor: kills", unanswered.count == 0 ? null : unanswered.sentence());
    views.error("supervisor: slots", leaked.count == 0 ? null : leaked.sentence());
    views.found(findings);
  }

  private String name(Live task) {
    return task.name(runner.shard());
  }

  private static String seconds(long millis) {
    return millis / 1000 + " s";
  }
}
