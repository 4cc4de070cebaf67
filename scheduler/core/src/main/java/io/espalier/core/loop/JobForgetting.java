package io.espalier.core.loop;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks.Live;
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
  private final UpdateApplier changes;
  private final TaskCompletion completion;

  JobForgetting(SharedParts parts, UpdateApplier changes, TaskCompletion completion) {
    this.parts = parts;
    this.changes = changes;
    this.completion = completion;
  }

  /**
   * @param archive where the statuses can be read from now on; empty: nowhere
   */
  void forget(String job, String reason, String archive, long nowMillis) {
    parts.committer().batch().forget(job);
    Json.Builder event = Json.object().put("job", job).put("reason", reason);
    if (!archive.isEmpty()) {
      event.put("archive", archive);
    }
    parts.events().add(nowMillis, EventKind.JOB_FORGOTTEN, event.build());
    for (Live task : parts.live().all()) {
      if (task.key.job().equals(job)) {
        // The task is still alive, and the next scheduler process must know of it.
        parts.live().forget(task, nowMillis);
        parts.committer().changed(Committer.row(task), nowMillis);
      }
    }
    completion.forget(job);
    changes.forget(job);
    parts.outcomes().forget(job);
    parts.rollouts().forget(job);
  }

  /** Returns those jobs that are not configured and have no live task. */
  Set<String> findAbsent(Set<String> jobs) {
    Set<String> alive = new HashSet<>();
    parts.live().all().forEach(task -> alive.add(task.key.job()));
    return changes.findAbsent(jobs, alive);
  }

  /**
   * Forgets a job if it has been absent since the last {@link #findAbsent}.
   *
   * @return completes, on any thread, when that is durable; with whether it is forgotten
   */
  CompletionStage<Boolean> forgetAbsent(String job, String reason, String archive, long nowMillis) {
    if (!changes.isAbsent(job)) {
      return CompletableFuture.completedStage(false);
    }
    forget(job, reason, archive, nowMillis);
    return parts.committer().commit().thenApply(done -> true);
  }
}
