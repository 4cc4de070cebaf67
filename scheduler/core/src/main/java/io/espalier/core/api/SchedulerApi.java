package io.espalier.core.api;

import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.logs.LogReader;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.status.store.TaskHistory;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * The operations of a scheduler that REST and the CLI use. Thread-safe. Calls return at once; what
 * needs the scheduler thread completes through the stage, between its slices of work. A stage fails
 * with {@link RefusedException} for an invalid request.
 */
public interface SchedulerApi {
  /** The latest published view; never blocks, never null. */
  SchedulerView view();

  /** The ages of the problems in the latest views; never blocks. */
  ProblemAges problemAges();

  /** The use of each resource as of at most a few seconds ago, returned at once: for metrics. */
  List<ResourceUse> recentResources();

  /** The starts in flight of the jobs that bound them, by name, returned at once: for metrics. */
  List<JobStarts> startsOfJobs();

  /**
   * The tasks that can never start because of the limits of their nodes, by job, as of at most some
   * seconds ago, returned at once. A job without such tasks is left out.
   */
  Map<String, NeverStarting> neverStarting();

  /** The queues as of at most a few seconds ago, returned at once: for metrics. */
  List<QueueView> recentQueues();

  /**
   * The kinds of redundancy groups as of at most a few seconds ago, returned at once: for metrics.
   */
  List<GroupKindView> recentGroups();

  /** The notifiers as of the latest step, returned at once. */
  List<NotifierView> notifiers();

  EventFeed events();

  /** The output of tasks. */
  LogReader logs();

  /** The stored past attempts of these tasks of a job; tasks without any are left out. */
  CompletionStage<Map<String, TaskHistory>> histories(String job, Collection<String> nodes);

  /** The stored past attempts of a task; empty for an unknown task. */
  default CompletionStage<TaskHistory> history(String job, String node) {
    return histories(job, List.of(node))
        .thenApply(found -> found.getOrDefault(node, TaskHistory.EMPTY));
  }

  /** Answers a query. */
  <T> CompletionStage<T> ask(Query<T> query);

  /**
   * Copies the state for forecasts, as the compressed lines of a recording (docs/planning.md). One
   * copy is made at a time: others fail with {@link RefusedException.Reason#UNAVAILABLE}.
   */
  CompletionStage<byte[]> snapshot();

  /**
   * Executes an operator's command; completes once its effect is durable and {@link #view} has it,
   * so that whoever reads after the answer sees what was ordered.
   */
  <T> CompletionStage<T> run(Command<T> command);

  /**
   * Takes what a service reports about its call. The answer comes once everything that it is based
   * on is durable; it fails with {@link RefusedException.Reason#UNAVAILABLE} while this scheduler
   * does not know yet what runs.
   */
  CompletionStage<Callback.Outcome> calledBack(Callback callback);

  /** Saves, deletes and lists versions of jobs. */
  JobVersions jobVersions();

  /** The leadership of this scheduler. */
  LeadershipControl leadership();
}
