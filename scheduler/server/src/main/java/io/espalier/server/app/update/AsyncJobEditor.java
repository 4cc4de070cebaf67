package io.espalier.server.app.update;

import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.server.config.JobEditor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Adapts the job editor to the asynchronous interface that monitors use. */
public record AsyncJobEditor(JobEditor editor, Executor blocking) implements JobVersions {
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
}
