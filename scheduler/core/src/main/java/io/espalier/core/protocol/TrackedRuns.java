package io.espalier.core.protocol;

import io.espalier.core.running.Assignment;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The invocations that are not yet recorded as ended. Each gets exactly one end. */
final class TrackedRuns {
  private static final int MOST_LOST = 10_000;

  private final SchedulerOutput out;
  private final Map<RunId, TrackedRun> runs = new HashMap<>();
  private final Map<WorkerRef, List<TrackedRun>> resumed = new LinkedHashMap<>();

  /** Invocations recorded as lost recently: their workers may still report how they ended. */
  private final Set<RunId> lost =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<RunId, Boolean> eldest) {
              return size() > MOST_LOST;
            }
          });

  private int resumedCount;
  private long orders;

  TrackedRuns(SchedulerOutput out) {
    this.out = out;
  }

  @Nullable TrackedRun get(RunId id) {
    return runs.get(id);
  }

  boolean knows(RunId id) {
    return runs.containsKey(id);
  }

  /** The run if it is known and has not ended; otherwise null. */
  @Nullable TrackedRun live(RunId id) {
    TrackedRun run = runs.get(id);
    return run == null || run.state == TrackedRun.State.ENDED ? null : run;
  }

  boolean isLiveOn(RunId id, WorkerRef worker) {
    TrackedRun run = live(id);
    return run != null && run.worker.equals(worker);
  }

  /**
   * Begins to track an invocation that is to be started.
   *
   * @throws IllegalStateException when it was started before
   */
  TrackedRun start(LaunchSpec launch) {
    TrackedRun run = unfollowed(launch);
    if (runs.putIfAbsent(run.id, run) != null) {
      throw new IllegalStateException("started twice: " + run.id);
    }
    return run;
  }

  /** Creates a run whose end is not passed on. */
  TrackedRun unfollowed(LaunchSpec launch) {
    TrackedRun run =
        new TrackedRun(RunId.of(launch), launch.worker(), ++orders, TrackedRun.State.QUEUED);
    run.launch = launch;
    return run;
  }

  void resume(Assignment assignment) {
    RunId id = new RunId(assignment.job(), assignment.node(), assignment.invocation());
    TrackedRun run = new TrackedRun(id, assignment.worker(), ++orders, TrackedRun.State.UNSURE);
    runs.put(id, run);
    resumed.computeIfAbsent(assignment.worker(), w -> new ArrayList<>()).add(run);
    resumedCount++;
  }

  int resumedCount() {
    return resumedCount;
  }

  /** Removes and returns the runs resumed on a worker that had not registered so far. */
  List<TrackedRun> resumedOn(WorkerRef worker) {
    List<TrackedRun> taken = resumed.remove(worker);
    if (taken == null) {
      return List.of();
    }
    resumedCount -= taken.size();
    return alive(taken);
  }

  /** Removes and returns the runs resumed on all workers that have not registered so far. */
  List<TrackedRun> allResumed() {
    List<TrackedRun> taken = new ArrayList<>();
    resumed.values().forEach(taken::addAll);
    resumed.clear();
    resumedCount = 0;
    return alive(taken);
  }

  private static List<TrackedRun> alive(List<TrackedRun> taken) {
    return taken.stream().filter(run -> run.state != TrackedRun.State.ENDED).toList();
  }

  /**
   * Notes the end of a run as reported by its worker.
   *
   * @return true when the end is already settled
   */
  boolean reported(TaskResult end, WorkerRef by) {
    TrackedRun run = runs.get(RunId.of(end));
    if (run == null) {
      if (!lost.remove(RunId.of(end))) {
        return true;
      }
      TrackedRun late = new TrackedRun(RunId.of(end), by, ++orders, TrackedRun.State.ENDED);
      late.reported = true;
      runs.put(late.id, late);
      out.late(end);
      return false;
    }
    if (!run.worker.equals(by)) {
      out.warn("worker " + by.shard() + " reports the end of what it does not run: " + run.id);
      return true;
    }
    if (run.state == TrackedRun.State.ENDED) {
      // This is true for a lost run too: until that is durable, only the worker knows better.
      return false;
    }
    run.reported = true;
    end(run, end);
    return false;
  }

  /** Ends a run that is dead with unknown result. */
  void lost(TrackedRun run, String why, long nowMillis) {
    run.lost = true;
    end(run, TaskResult.lost(run.id.job(), run.id.node(), run.id.invocation(), why, nowMillis));
  }

  /** Notes that a worker has a run. */
  void confirm(RemoteWorker worker, TrackedRun run) {
    boolean isNews = !run.wasConfirmed && !run.isHealthCheck();
    worker.confirm(run);
    if (isNews) {
      out.started(run.id);
    }
  }

  /** Ends a call whose end is known from its service. */
  void letGo(TrackedRun run, long nowMillis) {
    run.reported = true;
    RunId id = run.id;
    end(
        run,
        TaskResult.lost(
            id.job(), id.node(), id.invocation(), "its service has reported its end", nowMillis));
  }

  /** Ends a run that never ran and never will. */
  void notStarted(TrackedRun run, String why, long retryAfterMillis) {
    end(
        run,
        TaskResult.notStarted(
            run.id.job(), run.id.node(), run.id.invocation(), why, retryAfterMillis));
  }

  /** Ends a run that was killed before it was sent. */
  void killed(TrackedRun run, long nowMillis) {
    end(
        run,
        TaskResult.of(run.id.job(), run.id.node(), run.id.invocation(), TaskResult.Kind.KILLED)
            .withMessage("killed before it was sent to its worker")
            .withStopReason(StopReason.REQUESTED)
            .withEndedAtMillis(nowMillis));
  }

  private void end(TrackedRun run, TaskResult end) {
    run.state = TrackedRun.State.ENDED;
    run.launch = null;
    out.ended(end);
  }

  /** Forgets a run whose end is durable; returns null when it is unknown or has not ended. */
  @Nullable TrackedRun recorded(RunId id) {
    TrackedRun run = runs.get(id);
    if (run == null || run.state != TrackedRun.State.ENDED) {
      return null;
    }
    if (run.lost) {
      lost.add(id);
    }
    return runs.remove(id);
  }
}
