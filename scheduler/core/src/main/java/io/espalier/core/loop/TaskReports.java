package io.espalier.core.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.api.RefusedException;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.watch.CheckpointWriter;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.TaskKey;
import org.jspecify.annotations.Nullable;

/** Takes what live tasks, and the services that are called for them, report. */
final class TaskReports {
  private final SharedParts parts;
  private final UpdateApplier updates;
  private final TaskCompletion completion;
  private final CheckpointWriter checkpoints;

  TaskReports(
      SharedParts parts,
      UpdateApplier updates,
      TaskCompletion completion,
      CheckpointWriter checkpoints) {
    this.parts = parts;
    this.updates = updates;
    this.completion = completion;
    this.checkpoints = checkpoints;
  }

  /** Takes the newest progress of an invocation, if it is alive; null: there is none. */
  void progressed(TaskKey key, Invocation invocation, @Nullable Progress newest, long nowMillis) {
    Live task = parts.live().get(key);
    if (newest != null
        && task != null
        && task.invocation().equals(invocation)
        && !task.isOfForgottenJob()) {
      parts.committer().heard(task, newest.counters());
      checkpoints.heard(
          task, newest, nowMillis, due -> parts.committer().checkpoint(due, nowMillis));
      parts.live().changed(task);
      parts.views().changed();
    }
  }

  /** Takes what a service reports about its call; returns false when no such call is alive. */
  boolean calledBack(Callback callback, long nowMillis) {
    if (!updates.hasConfig()) {
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE, "the statuses are still being loaded");
    }
    Live task = completion.called(callback);
    if (task == null) {
      return false;
    }
    if (CallAnswer.of(callback.said()) instanceof CallAnswer.Running going) {
      Json.Obj progress = going.progress();
      progressed(
          task.key,
          task.invocation(),
          progress == null ? null : ProgressParser.of(progress).withCounters(going.counters()),
          nowMillis);
    } else {
      completion.calledBack(task, CallAnswer.ended(callback.said()), nowMillis);
    }
    return true;
  }
}
