package io.espalier.core.loop.command;

import io.espalier.core.api.Command;
import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.OrphanTimers;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import org.jspecify.annotations.Nullable;

/** Kills live tasks: those that an operator names, and orphans when their kill is due. */
public final class TaskKiller {
  private static final long ORPHAN_CHECK_MILLIS = 500;
  private static final int MOST_NAMED = 3;
  private static final int ORPHANS_PER_SLICE = 500;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final LoopEvents events;
  private final TaskRunner runner;
  private final OrphanTimers timers = new OrphanTimers();
  private final String shard;

  /**
   * The orphans of the current check and the number already checked; -1 when no check is in
   * progress.
   */
  private long[] orphans = {};

  private int looked = -1;
  private final StringBuilder named = new StringBuilder();
  private int stubborn;
  private @Nullable String problem;
  private long nextCheck;

  public TaskKiller(SchedulingCore core, LiveTasks live, LoopEvents events, TaskRunner runner) {
    this.core = core;
    this.live = live;
    this.events = events;
    this.runner = runner;
    shard = runner.shard();
  }

  /**
   * Requests that a task be killed in the way configured for its job. Returns true when it is
   * alive.
   *
   * @param command the command that kills it
   */
  public boolean kill(TaskKey key, Command<?> command, long nowMillis) {
    Live task = live.get(key);
    if (task == null) {
      return false;
    }
    Json.Obj by = LoopEvents.by(command, Json.object()).build();
    signal(task, request(key.job()), words(command), EventKind.TASK_KILL_REQUESTED, by, nowMillis);
    return true;
  }

  /** Returns what a command makes of a task, who gave it and why. */
  public static String words(Command<?> command) {
    String done =
        command instanceof Command.Cancel
            ? "cancelled"
            : command instanceof Command.Stop ? "its job was stopped" : "killed";
    String by = command.author().isEmpty() ? done : done + " by " + command.author();
    return command.reason().isEmpty() ? by : by + ": " + command.reason();
  }

  /**
   * Stops a task that its runner should have stopped, whether or not a request was sent before.
   *
   * @param why clause for people
   */
  public void insist(Live task, boolean hard, String why, long nowMillis) {
    KillRequest how = hard ? new KillRequest(KillRequest.Method.KILL, 0) : request(task.key.job());
    signal(task, how, why, EventKind.TASK_KILL_REPEATED, Json.Obj.EMPTY, nowMillis);
  }

  /**
   * Kills a task because more slots than a limit allows are in use.
   *
   * @param why sentence for its history
   * @param about node and resource over the limit, for the event
   */
  public void overLimit(Live task, String why, Json.Obj about, long nowMillis) {
    task.overLimit = why;
    signal(task, request(task.key.job()), why, EventKind.OVER_LIMIT_KILLED, about, nowMillis);
  }

  /** Kills a task, unless it is to end already, because its window has ended. */
  public void windowEnded(Live task, long nowMillis) {
    if (task.killAskedMillis == 0) {
      task.overdue = StopReason.WINDOW_ENDED;
      String why = "its window has ended";
      Json.Obj about = Json.object().put("reason", why).build();
      signal(task, request(task.key.job()), why, EventKind.TASK_KILL_REQUESTED, about, nowMillis);
    }
  }

  /**
   * Makes the next check happen at once, because tasks may have become orphans, or ceased to be.
   */
  public void recheck() {
    nextCheck = 0;
    giveUp();
  }

  private void giveUp() {
    if (looked >= 0) {
      timers.giveUp();
      looked = -1;
    }
  }

  /** When the next orphan is due; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return timers.nextMillis();
  }

  /**
   * The orphans that are still alive after a KILL signal, as of the latest check; null when there
   * are none.
   */
  public @Nullable String problem() {
    return problem;
  }

  /**
   * Kills orphans (docs/design/bistro.md#orphans), in slices. Does nothing between two checks, or
   * while the scheduler is disabled.
   *
   * @return true when there is more to do at once
   */
  public boolean checkOrphans(long nowMillis) {
    if (!core.config().settings().enabled()) {
      giveUp();
      return false;
    }
    if (looked < 0) {
      if (nowMillis < nextCheck && nowMillis < timers.nextMillis()) {
        return false;
      }
      nextCheck = nowMillis + ORPHAN_CHECK_MILLIS;
      orphans = core.running().orphans();
      looked = 0;
      stubborn = 0;
      named.setLength(0);
      timers.begin();
    }
    int end = Math.min(orphans.length, looked + ORPHANS_PER_SLICE);
    for (; looked < end; looked++) {
      Live task = live.ofRun(orphans[looked]);
      if (task != null) {
        look(task, nowMillis);
      }
    }
    if (looked < orphans.length) {
      return true;
    }
    timers.end();
    looked = -1;
    orphans = new long[0];
    problem =
        stubborn == 0
            ? null
            : stubborn
                + (stubborn == 1 ? " orphan lives" : " orphans live")
                + " on although sent KILL: "
                + named
                + (stubborn > MOST_NAMED ? " and others" : "");
    return false;
  }

  private void look(Live task, long nowMillis) {
    Job job = core.config().job(task.key.job());
    OrphanTimers.Kill kill =
        timers.look(
            new OrphanTimers.Orphan(
                task.key.job(),
                task.key.node(),
                task.invocation(),
                job == null
                    ? core.config().settings().defaults().killOrphansAfter()
                    : job.killOrphansAfter(),
                request(task.key.job())),
            nowMillis);
    if (kill != null) {
      Json.Obj about =
          kill.survived() == 0
              ? Json.Obj.EMPTY
              : Json.object().put("survived_signals", kill.survived()).build();
      signal(task, kill.how(), "it is an orphan", EventKind.ORPHAN_KILLED, about, nowMillis);
    }
    if (timers.isStubborn(task.invocation()) && stubborn++ < MOST_NAMED) {
      named
          .append(stubborn == 1 ? "" : ", ")
          .append(task.name(shard))
          .append(" (")
          .append(timers.signals(task.invocation()))
          .append(" signals)");
    }
  }

  private KillRequest request(String job) {
    Job config = core.config().job(job);
    Settings settings = core.config().settings();
    return config == null ? settings.defaults().kill() : config.kill();
  }

  private void signal(
      Live task, KillRequest how, String why, EventKind event, Json.Obj about, long nowMillis) {
    if (task.killAskedMillis == 0) {
      task.killAskedMillis = nowMillis;
      task.killReason = why;
      live.changed(task);
      task.killWaitMillis = Math.max(0, how.waitMillis());
    }
    task.killMustWork |= how.method() != KillRequest.Method.TERM;
    if (task.dispatched) {
      runner.kill(task.key.job(), task.key.node(), task.invocation(), how);
    } else {
      task.killAtStart = how;
    }
    Json.Builder data =
        Json.object()
            .put("job", task.key.job())
            .put("node", task.key.node())
            .put("invocation", task.invocation().token())
            .put("method", how.method().label());
    about.members().forEach(data::put);
    events.add(nowMillis, event, data.build());
  }
}
