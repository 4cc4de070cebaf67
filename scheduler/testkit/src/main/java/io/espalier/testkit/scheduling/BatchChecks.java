package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Checks the batches of a random run: its tasks belong together, and when it ended early, no other
 * task could have joined it.
 */
final class BatchChecks {
  private final Oracle oracle;
  private final boolean grouped;

  /** The batch of the start before in this slice; null: its job has none, or there was none. */
  private @Nullable Batch last;

  private final Map<String, Wait> waits = new HashMap<>();

  /**
   * Jobs of which tasks have ended before their wait; the core counts these at their places, too.
   */
  private final Set<String> endedBefore = new HashSet<>();

  /**
   * The wait of a job for its batches.
   *
   * @param state the state of the core in which it began
   * @param places where tasks of the job have ended meanwhile
   */
  private record Wait(long until, BatchSpec spec, long state, List<String> places) {}

  private record Batch(
      long number,
      Job job,
      BatchSpec spec,
      List<Place> path,
      @Nullable WorkerInfo worker,
      int size) {
    Batch grown() {
      return new Batch(number, job, spec, path, worker, size + 1);
    }
  }

  /**
   * @param grouped whether redundancy groups may end a batch early
   */
  BatchChecks(Oracle oracle, boolean grouped) {
    this.oracle = oracle;
    this.grouped = grouped;
  }

  /** Returns the tasks that could start, by job, without those that wait for their batch. */
  Map<String, List<String>> eligible(SchedulingCore core, long now) {
    Map<String, List<String>> eligible = oracle.eligible();
    eligible.keySet().removeIf(job -> waits(core, job, now));
    return eligible;
  }

  /**
   * Returns whether tasks that could start wait for others of their batch, which they may do no
   * longer than their job says, and only until tasks have ended that fill its batches.
   */
  private boolean waits(SchedulingCore core, String job, long now) {
    long until = core.batchAwaitedUntil(job);
    if (until == 0) {
      waits.remove(job);
      return false;
    }
    Job configured = oracle.config().job(job);
    BatchSpec spec = configured == null ? null : configured.scheduling().batch().orElse(null);
    assertThat(spec).as("batches of %s", job).isNotNull();
    long most = spec == null ? 0 : spec.waitTime().toMillis();
    assertThat(until).as("the wait of %s", job).isBetween(now + 1, now + most);
    Wait wait = waits.get(job);
    if (spec != null
        && (wait == null
            || wait.until() != until
            || !wait.spec().equals(spec)
            || wait.state() != core.stateNumber())) {
      waits.put(job, new Wait(until, spec, core.stateNumber(), new ArrayList<>()));
    } else if (wait != null && !wait.places().isEmpty() && !endedBefore.contains(job)) {
      assertThat(wait.places().size())
          .as("tasks of %s that have ended while it waits", job)
          .isLessThan((int) wait.places().stream().distinct().count() * wait.spec().max());
    }
    return true;
  }

  /** A task is about to end. */
  void ending(TaskKey task, List<Place> path, @Nullable WorkerInfo worker) {
    Wait wait = waits.get(task.job());
    if (wait != null) {
      String shard = worker == null ? "" : worker.ref().shard();
      wait.places().add(on(path, wait.spec().level()) + " " + shard);
    } else {
      endedBefore.add(task.job());
    }
  }

  /** A slice begins; the end of the last one may have ended a batch early. */
  void sliceBegins() {
    last = null;
  }

  /**
   * A task was placed; the oracle has not started it yet.
   *
   * @return whether it is the first of its batch, or alone
   */
  boolean placed(TaskKey task, List<Place> path, @Nullable WorkerInfo worker, long batch) {
    waits.remove(task.job());
    endedBefore.remove(task.job());
    Batch before = last;
    if (before != null && before.number() == batch) {
      joins(before.grown(), task, path, worker);
      return false;
    }
    if (before != null && before.size() < before.spec().max()) {
      endedForAReason(before);
    }
    Job job = oracle.config().job(task.job());
    BatchSpec spec = job == null ? null : job.scheduling().batch().orElse(null);
    assertThat(batch != 0).as("%s is of a batch", task).isEqualTo(spec != null);
    last =
        job == null || spec == null
            ? null
            : new Batch(batch, job, spec, path, worker, hasFailed(task) ? spec.max() : 1);
    return true;
  }

  private void joins(Batch batch, TaskKey task, List<Place> path, @Nullable WorkerInfo worker) {
    last = batch;
    assertThat(batch.size()).as("tasks of a batch").isLessThanOrEqualTo(batch.spec().max());
    assertThat(task.job()).isEqualTo(batch.job().name());
    assertThat(hasFailed(task)).as("%s failed before and is not alone", task).isFalse();
    assertThat(worker).as("the worker of a batch").isEqualTo(batch.worker());
    Place above = on(path, batch.spec().level());
    assertThat(above).as("the node above the batch of %s", task).isNotNull();
    assertThat(above).isEqualTo(on(batch.path(), batch.spec().level()));
  }

  private void endedForAReason(Batch batch) {
    int level = Math.max(batch.spec().level(), batch.job().levelForHostPlacement().orElse(0));
    Place above = on(batch.path(), level);
    if (grouped || above == null || level >= batch.job().level()) {
      return;
    }
    // Another task would have taken nothing of what the tasks of the batch share.
    oracle.batches().lift(Long.toString(batch.number()));
    List<TaskKey> open =
        oracle.tasks(batch.job()).stream().filter(task -> couldJoin(task, batch, level)).toList();
    oracle.batches().lower(Long.toString(batch.number()));
    // A task that is to run alone ends the batch before it.
    if (open.stream().noneMatch(this::hasFailed)) {
      assertThat(open).as("tasks that could have joined %s", batch).isEmpty();
    }
  }

  /** Returns whether a task could start on a path that is that of the batch down to a level. */
  private boolean couldJoin(TaskKey task, Batch batch, int level) {
    return oracle.eligiblePaths(task).stream()
        .filter(path -> isSameDownTo(level, path, batch.path()))
        .anyMatch(
            path ->
                batch.worker() == null
                    || oracle.eligibleWorkers(task, path).contains(batch.worker()));
  }

  private boolean isSameDownTo(int level, List<Place> path, List<Place> other) {
    return IntStream.rangeClosed(0, level)
        .allMatch(above -> Objects.equals(on(path, above), on(other, above)));
  }

  private boolean hasFailed(TaskKey task) {
    TaskStatus status = oracle.status(task);
    return status != null && status.main() == TaskStatus.Main.ERROR;
  }

  private @Nullable Place on(List<Place> path, int level) {
    String name = oracle.topology().levels().name(level);
    return path.stream().filter(place -> place.level().equals(name)).findFirst().orElse(null);
  }
}
