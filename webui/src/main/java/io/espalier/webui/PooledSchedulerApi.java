package io.espalier.webui;

import io.espalier.core.api.AppliedPlan;
import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.EventFeed;
import io.espalier.core.api.JobStarts;
import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.Query;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogReader;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.status.store.TaskHistory;
import java.util.Collection;
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
  public <T> CompletionStage<T> ask(Query<T> query) {
    return here(api.ask(query));
  }

  @Override
  public CompletionStage<byte[]> snapshot() {
    return here(api.snapshot());
  }

  @Override
  public <T> CompletionStage<T> run(Command<T> command) {
    return here(api.run(command));
  }

  @Override
  public CompletionStage<Map<String, TaskHistory>> histories(String job, Collection<String> nodes) {
    return here(api.histories(job, nodes));
  }

  @Override
  public CompletionStage<Callback.Outcome> calledBack(Callback callback) {
    return here(api.calledBack(callback));
  }

  @Override
  public SchedulerView view() {
    return api.view();
  }

  @Override
  public ProblemAges problemAges() {
    return api.problemAges();
  }

  @Override
  public List<GroupKindView> recentGroups() {
    return api.recentGroups();
  }

  @Override
  public List<NotifierView> notifiers() {
    return api.notifiers();
  }

  @Override
  public List<ResourceUse> recentResources() {
    return api.recentResources();
  }

  @Override
  public List<JobStarts> startsOfJobs() {
    return api.startsOfJobs();
  }

  @Override
  public Map<String, NeverStarting> neverStarting() {
    return api.neverStarting();
  }

  @Override
  public List<QueueView> recentQueues() {
    return api.recentQueues();
  }

  @Override
  public EventFeed events() {
    return api.events();
  }

  @Override
  public LeadershipControl leadership() {
    return api.leadership();
  }

  @Override
  public LogReader logs() {
    LogReader logs = api.logs();
    return new LogReader() {
      @Override
      public CompletionStage<LogPage> query(LogQuery query) {
        return here(logs.query(query));
      }

      @Override
      public CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
        return here(logs.follow(query, positions));
      }
    };
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

      @Override
      public CompletionStage<ConfigPlan> plan(
          ConfigChange change, boolean fetchesNodes, long assumedMillis) {
        return here(versions.plan(change, fetchesNodes, assumedMillis));
      }

      @Override
      public CompletionStage<AppliedPlan> apply(
          ConfigChange change,
          String token,
          Map<String, Long> consents,
          String author,
          String reason) {
        return here(versions.apply(change, token, consents, author, reason));
      }
    };
  }
}
