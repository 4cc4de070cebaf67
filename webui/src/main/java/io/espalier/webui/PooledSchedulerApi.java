package io.espalier.webui;

import io.espalier.core.api.EventFeed;
import io.espalier.core.api.Explanation;
import io.espalier.core.api.FailureGroups;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobLevels;
import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.LimitView;
import io.espalier.core.api.NodeDetail;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.QueueView;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskDeadlines;
import io.espalier.core.api.TaskPage;
import io.espalier.core.api.TaskQuery;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskView;
import io.espalier.core.api.TreeQuery;
import io.espalier.core.api.TreeView;
import io.espalier.core.api.WaitingReasons;
import io.espalier.core.api.WorkerView;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.TaskHistory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Wraps a scheduler so that its answers are processed on our pool. Otherwise the thread that
 * completes a stage, above all the scheduler thread, would write JSON.
 */
final class PooledSchedulerApi implements SchedulerApi {
  private final SchedulerApi api;
  private final Executor pool;

  PooledSchedulerApi(SchedulerApi api, Executor pool) {
    this.api = api;
    this.pool = pool;
  }

  private <T> CompletionStage<T> here(CompletionStage<T> stage) {
    return stage.whenCompleteAsync((answer, failure) -> {}, pool);
  }

  @Override
  public SchedulerView view() {
    return api.view();
  }

  @Override
  public EventFeed events() {
    return api.events();
  }

  @Override
  public ProblemAges problemAges() {
    return api.problemAges();
  }

  @Override
  public CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples) {
    return here(api.histograms(jobs, samples));
  }

  @Override
  public CompletionStage<TaskPage> tasks(TaskQuery query) {
    return here(api.tasks(query));
  }

  @Override
  public CompletionStage<TaskView> task(String job, String node) {
    return here(api.task(job, node));
  }

  @Override
  public CompletionStage<TaskHistory> history(String job, String node) {
    return here(api.history(job, node));
  }

  @Override
  public CompletionStage<Explanation> explain(String job, String node) {
    return here(api.explain(job, node));
  }

  @Override
  public CompletionStage<List<WorkerView>> workers() {
    return here(api.workers());
  }

  @Override
  public CompletionStage<WorkerView> hold(String shard, WorkerCordon.Kind kind, String reason) {
    return here(api.hold(shard, kind, reason));
  }

  @Override
  public CompletionStage<WorkerView> hold(
      String shard, WorkerCordon.Kind kind, String author, String reason) {
    return here(api.hold(shard, kind, author, reason));
  }

  @Override
  public CompletionStage<WorkerView> release(String shard, String reason) {
    return here(api.release(shard, reason));
  }

  @Override
  public CompletionStage<TreeView> tree(TreeQuery query) {
    return here(api.tree(query));
  }

  @Override
  public CompletionStage<NodeDetail> node(String level, String node) {
    return here(api.node(level, node));
  }

  @Override
  public CompletionStage<WaitingReasons> waiting(String job) {
    return here(api.waiting(job));
  }

  @Override
  public CompletionStage<FailureGroups> failures(String job, int limit) {
    return here(api.failures(job, limit));
  }

  @Override
  public CompletionStage<JobLevels> levels(String job, int samples) {
    return here(api.levels(job, samples));
  }

  @Override
  public CompletionStage<LogPage> logs(LogQuery query) {
    return here(api.logs(query));
  }

  @Override
  public CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
    return here(api.follow(query, positions));
  }

  @Override
  public CompletionStage<Long> forgive(List<String> jobs) {
    return here(api.forgive(jobs));
  }

  @Override
  public CompletionStage<Void> kill(String job, String node) {
    return here(api.kill(job, node));
  }

  @Override
  public CompletionStage<TaskDeadlines> extend(String job, String node, long millis) {
    return here(api.extend(job, node, millis));
  }

  @Override
  public CompletionStage<Void> pause(String job, String reason) {
    return here(api.pause(job, reason));
  }

  @Override
  public CompletionStage<Void> resume(String job) {
    return here(api.resume(job));
  }

  @Override
  public CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return here(api.pause(job, author, reason, millis));
  }

  @Override
  public CompletionStage<Void> resume(String job, String author, String reason) {
    return here(api.resume(job, author, reason));
  }

  @Override
  public CompletionStage<Long> stop(String job, String author, String reason) {
    return here(api.stop(job, author, reason));
  }

  @Override
  public CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return here(api.rerun(selection));
  }

  @Override
  public CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return here(api.forgive(selection));
  }

  @Override
  public CompletionStage<List<QueueView>> queues() {
    return here(api.queues());
  }

  @Override
  public List<QueueView> recentQueues() {
    return api.recentQueues();
  }

  @Override
  public CompletionStage<List<LimitView>> limits() {
    return here(api.limits());
  }

  @Override
  public CompletionStage<LimitView> setLimit(LimitOverride override, long millis) {
    return here(api.setLimit(override, millis));
  }

  @Override
  public CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return here(api.endLimit(key, author, reason));
  }

  @Override
  public LeadershipControl leadership() {
    return api.leadership();
  }

  @Override
  public JobVersions jobVersions() {
    JobVersions versions = api.jobVersions();
    return new JobVersions() {
      @Override
      public CompletionStage<JobVersion> save(
          String name, Json.Obj job, long expectedVersion, String author, String reason) {
        return here(versions.save(name, job, expectedVersion, author, reason));
      }

      @Override
      public CompletionStage<JobVersion> delete(
          String name, long expectedVersion, String author, String reason) {
        return here(versions.delete(name, expectedVersion, author, reason));
      }

      @Override
      public CompletionStage<JobVersion> rollBack(
          String name, long version, String author, String reason) {
        return here(versions.rollBack(name, version, author, reason));
      }

      @Override
      public CompletionStage<JobValidation> check(String name, Json.Obj job) {
        return here(versions.check(name, job));
      }

      @Override
      public CompletionStage<List<JobVersion>> history(String name) {
        return here(versions.history(name));
      }
    };
  }
}
