package io.espalier.core.api;

import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Changes jobs at the source of the configuration. Thread-safe; no call blocks. A stage fails with
 * {@link RefusedException}. A change takes effect when the source has been read again.
 */
public interface JobVersions {
  /** No particular version is expected. */
  long ANY = -1;

  /** There must be no such job, with or without a version. */
  long NEW = -2;

  /** There must be such a job, of any version. */
  long EXISTING = -3;

  /** For sources that cannot be written. */
  JobVersions NONE = new ReadOnly();

  /**
   * Saves a new or an existing job.
   *
   * @param expectedVersion the {@code version_id} known to the caller, 0 for a job that has none or
   *     must be new, or {@link #ANY}, {@link #NEW}, {@link #EXISTING}. If it differs from the
   *     current version, the call fails with {@link RefusedException.Reason#STALE}
   */
  CompletionStage<JobVersion> save(
      String name, Json.Obj job, long expectedVersion, String author, String reason);

  CompletionStage<JobVersion> delete(
      String name, long expectedVersion, String author, String reason);

  /** Saves an earlier version of the job as its newest one. */
  CompletionStage<JobVersion> rollBack(String name, long version, String author, String reason);

  /**
   * The saved versions, oldest first; empty for a job that was never saved through this interface.
   */
  CompletionStage<List<JobVersion>> history(String name);

  /**
   * Validates a job as saving would; changes nothing, and also works where nothing can be saved.
   */
  default CompletionStage<JobValidation> check(String name, Json.Obj job) {
    return CompletableFuture.failedFuture(
        new RefusedException(RefusedException.Reason.UNSUPPORTED, "jobs cannot be checked here"));
  }

  /**
   * Tells what applying a configuration would do; changes nothing, and also works where nothing can
   * be saved.
   *
   * @param fetchesNodes whether nodes are fetched if the node sources differ: their programs and
   *     queries run then. Without, such a plan has no impact
   * @param assumedMillis how long the tasks of a job take while none has ended; 0: not known
   */
  CompletionStage<ConfigPlan> plan(ConfigChange change, boolean fetchesNodes, long assumedMillis);

  /**
   * Applies a configuration that was planned.
   *
   * @param token of the plan
   * @param consents the largest numbers that are consented to, by name
   */
  CompletionStage<AppliedPlan> apply(
      ConfigChange change, String token, Map<String, Long> consents, String author, String reason);

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

    @Override
    public CompletionStage<ConfigPlan> plan(
        ConfigChange change, boolean fetchesNodes, long assumedMillis) {
      return refused();
    }

    @Override
    public CompletionStage<AppliedPlan> apply(
        ConfigChange change,
        String token,
        Map<String, Long> consents,
        String author,
        String reason) {
      return refused();
    }
  }
}
