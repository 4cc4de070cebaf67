package io.espalier.core.loop;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.SlicedWork;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Discards what is stored of a job: of an earlier one of the same name, so that the new job does
 * not inherit it (docs/design/features.md#jobs-of-the-same-name), or of one that has expired.
 */
final class JobForgetting {
  private final SharedParts parts;
  private final UpdateApplier updates;
  private final TaskCompletion completion;

  JobForgetting(SharedParts parts, UpdateApplier updates, TaskCompletion completion) {
    this.parts = parts;
    this.updates = updates;
    this.completion = completion;
  }

  /** Forgets jobs that were deleted and made again; their live tasks go on. */
  void forgetReplaced(Set<String> jobs, long nowMillis) {
    if (jobs.isEmpty()) {
      return;
    }
    jobs.stream().sorted().forEach(job -> forget(job, "deleted and made again", "", nowMillis));
    for (Live task : parts.live().all()) {
      if (jobs.contains(task.key.job())) {
        // The task is still alive, and the next scheduler process must know of it.
        parts.live().forget(task, nowMillis);
        parts.committer().changed(Committer.row(task), nowMillis);
      }
    }
  }

  /**
   * @param archive where the statuses can be read from now on; empty: nowhere
   */
  private void forget(String job, String reason, String archive, long nowMillis) {
    parts.committer().batch().forget(job);
    Json.Builder event = Json.object().put("job", job).put("reason", reason);
    if (!archive.isEmpty()) {
      event.put("archive", archive);
    }
    parts.events().add(nowMillis, EventKind.JOB_FORGOTTEN, event.build());
    completion.forget(job);
    updates.forget(job);
    parts.jobStates().forget(job);
    parts.rollouts().forget(job);
  }

  /** Finds those jobs that are not configured and have no live task, in slices. */
  SlicedWork findAbsent(Set<String> jobs, CompletableFuture<Set<String>> answer) {
    return new AbsentScan(jobs, answer);
  }

  /** A pass over the live tasks. It begins again when jobs or nodes change. */
  private final class AbsentScan implements SlicedWork {
    private static final int TASKS_PER_SLICE = 20_000;

    private final Set<String> jobs;
    private final CompletableFuture<Set<String>> answer;
    private final Set<String> alive = new HashSet<>();
    private long stateNumber = -1;

    /** The number of the live task to be looked at next. */
    private int place;

    AbsentScan(Set<String> jobs, CompletableFuture<Set<String>> answer) {
      this.jobs = jobs;
      this.answer = answer;
    }

    @Override
    public boolean step(long nowMillis) {
      if (stateNumber != parts.core().stateNumber()) {
        stateNumber = parts.core().stateNumber();
        place = 0;
      }
      int end = Math.min(parts.live().high(), place + TASKS_PER_SLICE);
      for (; place < end; place++) {
        Live task = parts.live().at(place);
        if (task != null) {
          alive.add(task.key.job());
        }
      }
      if (place < parts.live().high()) {
        return false;
      }
      answer.complete(updates.findAbsent(jobs, alive));
      return true;
    }
  }

  /**
   * Forgets a job if it has been absent since the last {@link #findAbsent}.
   *
   * @return completes, on any thread, when that is durable; with whether it is forgotten
   */
  CompletionStage<Boolean> forgetAbsent(String job, String reason, String archive, long nowMillis) {
    if (!updates.isAbsent(job)) {
      return CompletableFuture.completedStage(false);
    }
    forget(job, reason, archive, nowMillis);
    return parts.committer().commit().thenApply(done -> true);
  }
}
