package io.espalier.testkit.cluster;

import io.espalier.core.config.task.Verification;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the verifications of tasks. Each method returns what is wrong, or null: a
 * verification begins once its task is durably done, and nothing else of that task does; the task
 * passes when a verification has ended as done, and runs again when one has failed for good; its
 * job has succeeded only when no task awaits a verification.
 */
final class SimulatedVerifications {
  private final ClusterPlan plan;
  private final Coverage coverage;

  /** The tasks that were done in the end by a verification. */
  private final Set<TaskKey> passed = new HashSet<>();

  private boolean isForgotten;

  SimulatedVerifications(ClusterPlan plan, Coverage coverage) {
    this.plan = plan;
    this.coverage = coverage;
  }

  /** Returns whether a row says that its task is being verified now. */
  static boolean isVerified(@Nullable StatusRow row) {
    StepPosition at = row == null ? null : row.status().step();
    return row != null && row.status().main() == Main.RUNNING && at != null && at.isVerification();
  }

  /** Returns whether a row says that nothing of its task runs again, verifications included. */
  static boolean isOver(StatusRow row) {
    return row.status().isFinal() && !row.status().awaitsVerification();
  }

  /** Returns whether a row lifts that a task is done because its verification has failed. */
  static boolean hasFailed(@Nullable StatusRow before, StatusRow row) {
    return isVerified(before)
        && row.status().main() != Main.DONE
        && row.status().main() != Main.RUNNING;
  }

  /**
   * A row becomes durable.
   *
   * @param end the end of the invocation of the row before; null: it has not ended
   * @param byCommand whether an operator may have commanded the task
   */
  @Nullable String committed(
      @Nullable StatusRow before, StatusRow row, @Nullable TaskResult end, boolean byCommand) {
    boolean awaited = before != null && before.status().awaitsVerification();
    if (isVerified(row) && !isVerified(before)) {
      coverage.happened(SimulationEvent.VERIFICATION_STARTED);
      if (!awaited && !byCommand) {
        return "verified although it is not done: " + before + ", then " + row;
      }
    } else if (row.status().main() == Main.RUNNING && awaited && !byCommand) {
      return "runs again before its verification: " + before + ", then " + row;
    }
    if (hasFailed(before, row)) {
      coverage.happened(SimulationEvent.VERIFICATION_FAILED);
      if (end != null && end.kind() == TaskResult.Kind.EXITED && isDone(end)) {
        return "runs again although its verification was done: " + row;
      }
    }
    boolean isOver = row.status().main() == Main.DONE && !row.status().awaitsVerification();
    if (isOver && isVerified(before) && !isDone(end)) {
      return "passes with a verification that was not done: " + end + ", then " + row;
    }
    if (isOver && isVerified(before)) {
      passed.add(row.key());
    }
    return null;
  }

  private static boolean isDone(@Nullable TaskResult end) {
    return end != null && "done".equals(end.rawStatus());
  }

  /** The state of a job becomes durable, after these rows. */
  @Nullable String became(JobStateRecord state, Collection<StatusRow> rows) {
    // Where nodes come and go, rows of nodes that are gone await a verification for ever.
    if (plan.isSteered() || state.state() != JobState.SUCCEEDED) {
      return null;
    }
    for (StatusRow row : rows) {
      if (row.job().equals(state.job()) && (row.status().awaitsVerification() || isVerified(row))) {
        return "its job has succeeded before it was verified: " + row;
      }
    }
    return null;
  }

  /** All tasks have ended: every job has as many verified tasks as its sample has. */
  @Nullable String allEnded(Collection<StatusRow> rows) {
    if (plan.isSteered() || isForgotten) {
      return null;
    }
    for (String job : ClusterPlan.jobs()) {
      Verification how = plan.verification(job);
      if (how == null) {
        continue;
      }
      long unverified = 0;
      for (StatusRow row : rows) {
        boolean isDone = row.job().equals(job) && row.status().main() == Main.DONE;
        unverified += isDone && !passed.contains(row.key()) ? 1 : 0;
      }
      long tasks = plan.tasks() / ClusterPlan.jobs().size();
      if (unverified > tasks - how.size(tasks)) {
        return unverified + " tasks of " + job + " are done and were never verified, by " + how;
      }
    }
    return null;
  }

  /** The store has lost what it knew, or an old copy of it was restored. */
  void storeForgets() {
    isForgotten = true;
  }
}
