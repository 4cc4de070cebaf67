package io.espalier.core.api;

import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.api.view.WorkerView;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * What clients can ask about the scheduler's current state. A new query is a record here; {@link
 * Handler} then makes every scheduler that does not answer it fail to compile.
 *
 * @param <T> type of the answer
 */
public sealed interface Query<T> {
  /** Calls the method of the handler for this query. */
  CompletionStage<T> answer(Handler handler);

  /** Whether the answer waits until the statuses that it reports are durable. */
  default boolean reportsStatuses() {
    return true;
  }

  /**
   * Answers each kind of query. A method throws {@link RefusedException}, or its stage fails with
   * it, for an invalid query.
   */
  interface Handler {
    CompletionStage<List<Histogram>> histograms(Histograms query);

    CompletionStage<TaskPage> tasks(Tasks query);

    CompletionStage<TaskView> task(Task query);

    CompletionStage<Explanation> explain(Explain query);

    CompletionStage<TreeView> tree(Tree query);

    CompletionStage<NodeDetail> node(Node query);

    CompletionStage<WaitingReasons> waiting(Waiting query);

    CompletionStage<FailureGroups> failures(Failures query);

    CompletionStage<JobLevels> levels(Levels query);

    CompletionStage<JobEta> eta(Eta query);

    CompletionStage<JobActivity> activity(Activity query);

    CompletionStage<List<WorkerView>> workers(Workers query);

    CompletionStage<List<QueueView>> queues(Queues query);

    CompletionStage<List<LimitView>> limits(Limits query);

    CompletionStage<List<GroupKindView>> groupKinds(GroupKinds query);

    CompletionStage<GroupPage> groups(Groups query);
  }

  /**
   * Histograms of jobs.
   *
   * @param jobs job names; empty: all valid ones; unknown names are skipped
   * @param samples maximum number of node names per bucket
   */
  record Histograms(List<String> jobs, int samples) implements Query<List<Histogram>> {
    public Histograms {
      jobs = List.copyOf(jobs);
    }

    @Override
    public CompletionStage<List<Histogram>> answer(Handler handler) {
      return handler.histograms(this);
    }
  }

  /**
   * A page of tasks of a job.
   *
   * @param statuses only tasks in one of these statuses; empty: in any
   * @param nodePrefix prefix of the node's name; empty: all
   * @param after cursor of the previous page; empty: the first page
   * @param limit maximum number of tasks, 1 to 1000
   * @param fingerprint fingerprint of the latest, failed attempt; empty: all
   * @param under name of a node below which, or on which, they are; empty: all
   * @param level level of that node; empty: the highest that has a node of that name
   * @param part part of the node's name; empty: all
   * @param reason kind of what the tasks wait for, as in {@link
   *     io.espalier.core.api.view.WaitingReasons.Group}; empty: all. A page may then have fewer
   *     tasks than {@code limit} although there are more
   * @param counted whether the answer says how many tasks there are on all pages, which takes a
   *     look at every task of the job
   */
  @RecordBuilder
  record Tasks(
      String job,
      List<String> statuses,
      String nodePrefix,
      String after,
      int limit,
      String fingerprint,
      String under,
      String level,
      String part,
      String reason,
      boolean counted)
      implements Query<TaskPage>, QueryTasksBuilder.With {
    /** Asks for a page of all tasks of a job, without a count. */
    public static Tasks all(String job, String after, int limit) {
      return new Tasks(job, List.of(), "", after, limit, "", "", "", "", "", false);
    }

    @Override
    public CompletionStage<TaskPage> answer(Handler handler) {
      return handler.tasks(this);
    }
  }

  /** One task. */
  record Task(String job, String node) implements Query<TaskView> {
    @Override
    public CompletionStage<TaskView> answer(Handler handler) {
      return handler.task(this);
    }
  }

  /** Why a task does not run, with its path and the holders of what it lacks. */
  record Explain(String job, String node) implements Query<Explanation> {
    @Override
    public CompletionStage<Explanation> answer(Handler handler) {
      return handler.explain(this);
    }
  }

  /**
   * A part of the node tree with usage and counts; computed recently, not necessarily for this
   * query.
   *
   * @param root name of the root node; empty: the instance
   * @param level level of the root; empty: the highest that has a node of that name
   * @param job job whose tasks are counted; empty: those of all jobs
   * @param depth maximum number of levels below the root
   * @param limit maximum number of nodes, 1 to {@link #MOST}
   */
  record Tree(String root, String level, String job, int depth, int limit)
      implements Query<TreeView> {
    public static final int MOST = 20_000;

    @Override
    public CompletionStage<TreeView> answer(Handler handler) {
      return handler.tree(this);
    }
  }

  /** One node with usage, holders and counts; computed recently. */
  record Node(String level, String node) implements Query<NodeDetail> {
    @Override
    public CompletionStage<NodeDetail> answer(Handler handler) {
      return handler.node(this);
    }
  }

  /** The reasons why a job's waiting tasks wait, with counts; computed recently. */
  record Waiting(String job) implements Query<WaitingReasons> {
    @Override
    public CompletionStage<WaitingReasons> answer(Handler handler) {
      return handler.waiting(this);
    }
  }

  /**
   * The failed tasks of a job, grouped by cause.
   *
   * @param limit maximum number of groups
   */
  record Failures(String job, int limit) implements Query<FailureGroups> {
    @Override
    public CompletionStage<FailureGroups> answer(Handler handler) {
      return handler.failures(this);
    }
  }

  /**
   * The progress of a job on each level.
   *
   * @param samples maximum number of node names per state
   */
  record Levels(String job, int samples) implements Query<JobLevels> {
    @Override
    public CompletionStage<JobLevels> answer(Handler handler) {
      return handler.levels(this);
    }
  }

  /**
   * When a job ends; computed recently.
   *
   * @param assumedMillis how long its tasks take if none has ended yet; 0: nothing is assumed
   */
  record Eta(String job, long assumedMillis) implements Query<JobEta> {
    @Override
    public CompletionStage<JobEta> answer(Handler handler) {
      return handler.eta(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /**
   * What the tasks of a job have done in the last hour; computed recently.
   *
   * @param job empty: all jobs
   */
  record Activity(String job) implements Query<JobActivity> {
    @Override
    public CompletionStage<JobActivity> answer(Handler handler) {
      return handler.activity(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /** All workers: those of the pool, then those that have left and still have tasks. */
  record Workers() implements Query<List<WorkerView>> {
    @Override
    public CompletionStage<List<WorkerView>> answer(Handler handler) {
      return handler.workers(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /** All queues with their usage, caps and shares. */
  record Queues() implements Query<List<QueueView>> {
    @Override
    public CompletionStage<List<QueueView>> answer(Handler handler) {
      return handler.queues(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /** All limit overrides. */
  record Limits() implements Query<List<LimitView>> {
    @Override
    public CompletionStage<List<LimitView>> answer(Handler handler) {
      return handler.limits(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /** All kinds of redundancy groups. */
  record GroupKinds() implements Query<List<GroupKindView>> {
    @Override
    public CompletionStage<List<GroupKindView>> answer(Handler handler) {
      return handler.groupKinds(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }

  /**
   * A page of the redundancy groups of one kind; computed recently.
   *
   * @param onlyFull whether to list only groups in which no further member may become busy
   * @param after cursor of the previous page; empty: the first page
   * @param limit maximum number of groups, 1 to 1000
   */
  record Groups(String kind, boolean onlyFull, String after, int limit)
      implements Query<GroupPage> {
    @Override
    public CompletionStage<GroupPage> answer(Handler handler) {
      return handler.groups(this);
    }

    @Override
    public boolean reportsStatuses() {
      return false;
    }
  }
}
