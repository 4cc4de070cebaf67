package io.espalier.testkit.oracle;

import io.espalier.core.config.Job;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.testkit.oracle.Oracle.Place;
import io.espalier.testkit.oracle.Oracle.Run;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What counts as done, with steps and verifications, for a task and for what waits for it. */
public final class OracleSteps {
  private final Oracle oracle;

  OracleSteps(Oracle oracle) {
    this.oracle = oracle;
  }

  /**
   * Returns whether a running task may go on with another step: its job, its path and its worker
   * are as open as for a start, apart from slots and rates, of which it takes no more.
   */
  public boolean mayGoOn(TaskKey task) {
    Run run = oracle.running().get(task);
    Job job = oracle.config().job(task.job());
    if (run == null || job == null || !oracle.isKnown(task) || oracle.isStopped(job)) {
      return false;
    }
    WorkerInfo worker = run.worker() == null ? null : oracle.pool().workers().get(run.worker());
    if (oracle.closings().isInactive(job.name())
        || job.afterJobs().stream().anyMatch(whole -> !isDone(whole))
        || (run.worker() != null && (worker == null || !worker.takesTasks()))) {
      return false;
    }
    List<Place> upwards = new ArrayList<>(run.path());
    Collections.reverse(upwards);
    return oracle.tree().paths(oracle.tree().node(job, task.node())).stream()
        .filter(
            path -> path.stream().map(slot -> oracle.tree().placeOf(slot)).toList().equals(upwards))
        .anyMatch(
            path ->
                path.stream()
                    .allMatch(
                        slot ->
                            oracle.topology().enabled(slot)
                                && oracle.tree().passes(job, slot)
                                && !oracle.nodeGates().isClosed(oracle.tree().placeOf(slot), job)));
  }

  /** Returns whether a task is done, and verified if it is to be. */
  static boolean isDone(@Nullable TaskStatus status) {
    return status != null && status.main() == Main.DONE && !status.awaitsVerification();
  }

  /** Returns whether nothing of a task that is done may start, be it its verification. */
  static boolean isClosed(TaskStatus status) {
    return status.main() == Main.DONE && !status.isInVerification();
  }

  /** Returns whether the task of a job on a node is done, for a job that depends on it. */
  boolean isDone(String job, String node) {
    Job configured = oracle.config().job(job);
    TaskKey task = new TaskKey(job, node);
    TaskStatus status = oracle.status(task);
    return configured != null
        && oracle.tree().node(configured, node) >= 0
        && !oracle.running().containsKey(task)
        && isDone(status);
  }

  /** Returns whether a job cannot start because other jobs have not progressed far enough. */
  public boolean waitsForJobs(String name) {
    Job job = oracle.config().job(name);
    return job != null && job.afterJobs().stream().anyMatch(whole -> !isDone(whole));
  }

  /**
   * Returns whether enough of the tasks of a job are done, counting those that pass its filters.
   */
  boolean isDone(WholeJobDependency whole) {
    Job job = oracle.config().job(whole.job());
    if (job == null || !job.canRun() || !oracle.config().settings().enabled()) {
      return false;
    }
    int done = 0;
    int all = 0;
    for (TaskKey task : oracle.tasks(job)) {
      int node = oracle.tree().node(job, task.node());
      boolean tagged = whole.tags().isEmpty();
      for (int i = 0; i < oracle.topology().slotCount(node); i++) {
        tagged |=
            oracle.topology().tags(oracle.topology().slot(node, i)).stream()
                .anyMatch(whole.tags()::contains);
      }
      if (tagged && oracle.tree().verdict(job, node) != OracleTree.Verdict.AVOIDED) {
        all++;
        done += isDone(job.name(), task.node()) ? 1 : 0;
      }
    }
    return done * 100.0 >= whole.donePercent() * all;
  }
}
