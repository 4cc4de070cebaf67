package io.espalier.core.loop.command;

import io.espalier.core.config.Job;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Forgives all failed and waiting tasks of some jobs (docs/design/bistro.md#forgiving), in slices.
 */
public final class ForgiveCommand implements SlicedWork {
  private static final int LOOKS = 50_000;
  private static final int CHANGES = 2_000;

  private static final StatusFilter FORGIVABLE =
      StatusFilter.of(
          bits ->
              (bits & TaskStatus.Main.FAILED.bit()) != 0 || (bits & TaskStatus.USES_BACKOFF) != 0);

  private final SchedulingCore core;
  private final List<String> jobs;
  private final Changed changed;
  private final Finished finished;
  private final CompletableFuture<Long> answer;

  private int next;
  private int node;
  private @Nullable Topology topology;
  private long forgiven;

  /** Receives each changed row. */
  public interface Changed {
    void accept(StatusRow row, long nowMillis);
  }

  /** Receives the result at the end. */
  public interface Finished {
    /**
     * Called when all tasks are forgiven.
     *
     * @param durable to be run once all changes are durable
     */
    void forgiven(List<String> jobs, long tasks, long nowMillis, Runnable durable);
  }

  public ForgiveCommand(
      SchedulingCore core,
      List<String> jobs,
      Changed changed,
      Finished finished,
      CompletableFuture<Long> answer) {
    this.core = core;
    this.jobs = List.copyOf(jobs);
    this.changed = changed;
    this.finished = finished;
    this.answer = answer;
  }

  /**
   * Returns true while stored statuses are being restored: until then the tasks to forgive are
   * unknown.
   */
  @Override
  public boolean waits() {
    return next < jobs.size() && core.gate(GateKind.LOADING, jobs.get(next)) != null;
  }

  @Override
  public boolean step(long nowMillis) {
    if (waits()) {
      return false;
    }
    if (next < jobs.size()) {
      slice(nowMillis);
    }
    if (next < jobs.size()) {
      return false;
    }
    long tasks = forgiven;
    finished.forgiven(jobs, tasks, nowMillis, () -> answer.complete(tasks));
    return true;
  }

  private void slice(long nowMillis) {
    int job = core.findJob(jobs.get(next));
    Job config = job < 0 ? null : core.job(job);
    if (config == null) {
      nextJob();
      return;
    }
    if (topology != core.topology()) {
      // Node numbers have changed, so start over; tasks already forgiven are not found again.
      topology = core.topology();
      node = 0;
    }
    for (int i = 0; i < CHANGES; i++) {
      int found = core.nextTask(job, node, LOOKS, FORGIVABLE);
      if (found == -1) {
        nextJob();
        return;
      }
      if (found < 0) {
        node = -2 - found;
        return;
      }
      node = found + 1;
      forgive(job, found, config, nowMillis);
    }
  }

  private void forgive(int job, int found, Job config, long nowMillis) {
    TaskStatus status = core.status(job, found);
    Transition transition =
        TaskTransitions.apply(status, new TaskEvent.Forgiven(), config.retrying(), nowMillis);
    TaskStatus next = transition.status();
    if (!transition.changed() || next == null) {
      return;
    }
    core.setStatus(job, found, next);
    forgiven++;
    // This is no invocation: its epoch 0 is older than any other.
    changed.accept(
        new StatusRow(config.name(), core.topology().name(found), next, new Invocation(0, 0, 0)),
        nowMillis);
  }

  private void nextJob() {
    next++;
    node = 0;
  }
}
