package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.loop.LiveTasks.Live;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Kills live tasks: those an operator names, and orphans when their time has come. */
final class Kills {
  private static final long ORPHAN_CHECK_MILLIS = 500;
  private static final int MOST_NAMED = 3;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final LoopEvents events;
  private final TaskRunner runner;
  private final OrphanTimers timers = new OrphanTimers();
  private final String shard;
  private @Nullable String problem;
  private long nextCheck;

  Kills(SchedulingCore core, LiveTasks live, LoopEvents events, TaskRunner runner) {
    this.core = core;
    this.live = live;
    this.events = events;
    this.runner = runner;
    shard = runner.shard();
  }

  /** Asks for one task to be killed in its job's way; returns whether it is alive. */
  boolean kill(TaskKey key, long nowMillis) {
    Live task = live.get(key);
    if (task == null) {
      return false;
    }
    signal(task, request(key.job()), "task_kill_requested", nowMillis);
    return true;
  }

  /** Stops one again, or for the first time, that its runner should have stopped. */
  void insist(Live task, boolean hard, long nowMillis) {
    KillRequest how = hard ? new KillRequest(KillRequest.Method.KILL, 0) : request(task.key.job());
    signal(task, how, "task_kill_repeated", nowMillis);
  }

  /**
   * Kills one because more than a limit is in use.
   *
   * @param why a sentence, for its history
   * @param about where, for the event
   */
  void overLimit(Live task, String why, Json.Obj about, long nowMillis) {
    task.overLimit = why;
    signal(task, request(task.key.job()), "over_limit_killed", about, nowMillis);
  }

  /** Makes the next check happen at once: what is an orphan may have changed. */
  void recheck() {
    nextCheck = 0;
  }

  /** When the next orphan is due; {@link Long#MAX_VALUE} when none is. */
  long nextMillis() {
    return timers.nextMillis();
  }

  /**
   * What is wrong with orphans: those that live on although they were sent a KILL; null: nothing.
   * As of the latest check.
   */
  @Nullable String problem() {
    return problem;
  }

  /** Behaviour 5.8; does nothing between two checks, and while the scheduler is disabled. */
  void checkOrphans(long nowMillis) {
    if (!core.config().settings().enabled()
        || (nowMillis < nextCheck && nowMillis < timers.nextMillis())) {
      return;
    }
    nextCheck = nowMillis + ORPHAN_CHECK_MILLIS;
    List<OrphanTimers.Orphan> orphans = new ArrayList<>();
    for (long run : core.orphans()) {
      TaskKey key = new TaskKey(core.runJobName(run), core.runNodeName(run));
      Live task = live.get(key);
      if (task != null) {
        Job job = core.config().job(key.job());
        orphans.add(
            new OrphanTimers.Orphan(
                key.job(),
                key.node(),
                task.invocation(),
                job == null
                    ? core.config().settings().defaults().killOrphansAfter()
                    : job.killOrphansAfter(),
                request(key.job())));
      }
    }
    for (OrphanTimers.Kill kill : timers.update(orphans, nowMillis)) {
      Live task = live.get(new TaskKey(kill.job(), kill.node()));
      if (task != null) {
        Json.Obj about =
            kill.survived() == 0
                ? Json.Obj.EMPTY
                : Json.object().put("survived_signals", kill.survived()).build();
        signal(task, kill.how(), "orphan_killed", about, nowMillis);
      }
    }
    problem = stubborn(orphans);
  }

  private @Nullable String stubborn(List<OrphanTimers.Orphan> orphans) {
    int count = 0;
    StringBuilder named = new StringBuilder();
    for (OrphanTimers.Orphan orphan : orphans) {
      Live task = live.get(new TaskKey(orphan.job(), orphan.node()));
      if (task != null && timers.isStubborn(orphan.invocation()) && count++ < MOST_NAMED) {
        named
            .append(count == 1 ? "" : ", ")
            .append(task.name(shard))
            .append(" (")
            .append(timers.signals(orphan.invocation()))
            .append(" signals)");
      }
    }
    return count == 0
        ? null
        : count
            + (count == 1 ? " orphan lives" : " orphans live")
            + " on although sent KILL: "
            + named
            + (count > MOST_NAMED ? " and others" : "");
  }

  private KillRequest request(String job) {
    Job config = core.config().job(job);
    Settings settings = core.config().settings();
    return config == null ? settings.defaults().kill() : config.kill();
  }

  private void signal(Live task, KillRequest how, String event, long nowMillis) {
    signal(task, how, event, Json.Obj.EMPTY, nowMillis);
  }

  private void signal(Live task, KillRequest how, String event, Json.Obj about, long nowMillis) {
    if (task.killAskedMillis == 0) {
      task.killAskedMillis = nowMillis;
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
