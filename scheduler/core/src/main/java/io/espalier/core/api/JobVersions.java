package io.espalier.core.api;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Changes jobs where the configuration comes from. Thread-safe; nothing blocks the caller. A stage
 * fails with {@link RefusedException}. A change is in force once the source has been read again.
 */
public interface JobVersions {
  /** No particular version is expected. */
  long ANY = -1;

  /** There must be no such job, with or without a version. */
  long NEW = -2;

  /** There must be such a job, of whatever version. */
  long EXISTING = -3;

  /** For sources that cannot be written. */
  JobVersions NONE = new ReadOnly();

  /**
   * Saves a job, new or not.
   *
   * @param expectedVersion its {@code version_id} as the caller knows it, 0 for a job that has none
   *     or must be new, or {@link #ANY}, {@link #NEW}, {@link #EXISTING}. Another one is refused as
   *     {@link RefusedException.Reason#STALE}
   */
  CompletionStage<JobVersion> save(
      String name, Json.Obj job, long expectedVersion, String author, String reason);

  CompletionStage<JobVersion> delete(
      String name, long expectedVersion, String author, String reason);

  /** Saves what the job was in an earlier version as its next one. */
  CompletionStage<JobVersion> rollBack(String name, long version, String author, String reason);

  /** Saved versions, oldest first; empty for a job that was never saved through this interface. */
  CompletionStage<List<JobVersion>> history(String name);

  /** What saving a job would say of it; changes nothing, also where nothing can be saved. */
  default CompletionStage<JobValidation> check(String name, Json.Obj job) {
    return CompletableFuture.failedFuture(
        new RefusedException(RefusedException.Reason.UNSUPPORTED, "jobs cannot be checked here"));
  }

  /** Refuses everything. */
  final class ReadOnly implements JobVersions {
    private ReadOnly() {}

    private static <T> CompletionStage<T> refused() {
      return CompletableFuture.failedFuture(
          new RefusedException(
              RefusedException.Reason.UNSUPPORTED,
              "not implemented for this configuration source"));
    }

    @Override
    public CompletionStage<JobVersion> save(
        String name, Json.Obj job, long expectedVersion, String author, String reason) {
      return refused();
    }

    @Override
    public CompletionStage<JobVersion> delete(
        String name, long expectedVersion, String author, String reason) {
      return refused();
    }

    @Override
    public CompletionStage<JobVersion> rollBack(
        String name, long version, String author, String reason) {
      return refused();
    }

    @Override
    public CompletionStage<List<JobVersion>> history(String name) {
      return refused();
    }
  }
}
