package io.espalier.server.app.update;

import io.espalier.core.api.AppliedPlan;
import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.server.config.JobEditor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * Adapts the job editor and the planner to the asynchronous interface that monitors use.
 *
 * @param planning runs plans, one at a time; may reject them
 */
public record AsyncJobEditor(
    JobEditor editor, ConfigPlanner planner, Executor blocking, Executor planning)
    implements JobVersions {
  @Override
  public CompletionStage<JobVersion> save(
      String name, Json.Obj job, long expectedVersion, String author, String reason) {
    return CompletableFuture.supplyAsync(
        () -> editor.save(name, job, expectedVersion, author, reason), blocking);
  }

  @Override
  public CompletionStage<JobVersion> delete(
      String name, long expectedVersion, String author, String reason) {
    return CompletableFuture.supplyAsync(
        () -> editor.delete(name, expectedVersion, author, reason), blocking);
  }

  @Override
  public CompletionStage<JobVersion> rollBack(
      String name, long version, String author, String reason) {
    return CompletableFuture.supplyAsync(
        () -> editor.rollBack(name, version, author, reason), blocking);
  }

  @Override
  public CompletionStage<JobValidation> check(String name, Json.Obj job) {
    return CompletableFuture.supplyAsync(() -> editor.check(name, job), blocking);
  }

  @Override
  public CompletionStage<List<JobVersion>> history(String name) {
    return CompletableFuture.supplyAsync(() -> editor.history(name), blocking);
  }

  @Override
  public CompletionStage<ConfigPlan> plan(
      ConfigChange change, boolean fetchesNodes, long assumedMillis) {
    return planned(() -> planner.plan(change, fetchesNodes, assumedMillis));
  }

  @Override
  public CompletionStage<AppliedPlan> apply(
      ConfigChange change, String token, Map<String, Long> consents, String author, String reason) {
    return planned(() -> planner.apply(change, token, consents, author, reason));
  }

  private <T> CompletionStage<T> planned(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, planning);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(
          new RefusedException(RefusedException.Reason.FULL, "too many plans are being made"));
    }
  }
}
