package io.espalier.testkit.api;

import io.espalier.core.api.AppliedPlan;
import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Records saved job versions; the configuration of the fake scheduler stays the same. */
public final class FakeJobVersions implements JobVersions {
  private static final UpdateImpact IMPACT =
      new UpdateImpact(
          9,
          0,
          1,
          List.of(new UpdateImpact.OfJob("new", "host", 0, 7, 7, 0, 0, 1)),
          3,
          List.of(new UpdateImpact.Orphan("old", "a", 500)),
          1,
          1,
          List.of(new UpdateImpact.OverLimit("host", "a", "slots", 3, 2, -1)),
          1,
          0,
          List.of(Problem.warning("bistro_job->new", "it can never run")));

  private static PlanForecast forecast(long assumedMillis) {
    JobEta now = new JobEta("old", 1_000, 7, 0, -1, -1, null);
    double seconds = assumedMillis == 0 ? 90 : assumedMillis / 1000.0;
    JobEta then = new JobEta("old", 1_000, 14, 2, seconds, 2 * seconds, null);
    return new PlanForecast(
        List.of(
            new PlanForecast.Peak(
                "host", "slots", new PlanForecast.Use(3, 4), new PlanForecast.Use(4, 4)),
            new PlanForecast.Peak("host", "new", null, new PlanForecast.Use(1, 9))),
        List.of(new PlanForecast.End("old", now, then), new PlanForecast.End("new", null, then)),
        2);
  }

  private final Consumer<String> calls;
  private final List<JobVersion> versions = new ArrayList<>();

  /**
   * @param calls receives a line for each modification
   */
  FakeJobVersions(Consumer<String> calls) {
    this.calls = calls;
  }

  private synchronized CompletionStage<JobVersion> add(
      String name, Json.@Nullable Obj job, long expected, String author, String reason) {
    long now = versions.stream().filter(v -> v.name().equals(name)).count();
    boolean fits =
        switch ((int) expected) {
          case (int) ANY -> true;
          case (int) NEW -> now == 0;
          case (int) EXISTING -> now > 0;
          default -> expected == now;
        };
    if (!fits) {
      return CompletableFuture.failedFuture(
          new RefusedException(RefusedException.Reason.STALE, "version is " + now));
    }
    JobVersion next = new JobVersion(name, now + 1, 1_000, author, reason, job);
    versions.add(next);
    calls.accept((job == null ? "delete " : "save ") + name);
    return CompletableFuture.completedFuture(next);
  }

  /**
   * Saves a job; one with a member {@code "broken"} is invalid, and there is no room for one with
   * {@code "full"}.
   */
  @Override
  public CompletionStage<JobVersion> save(
      String name, Json.Obj job, long expectedVersion, String author, String reason) {
    if (job.get("broken") != null) {
      Problem problem = Problem.error("bistro_job->" + name + ".broken", "it is broken");
      return CompletableFuture.failedFuture(
          RefusedException.invalid("job " + name + " was not saved", List.of(problem)));
    }
    if (job.get("full") != null) {
      return CompletableFuture.failedFuture(
          new RefusedException(
              RefusedException.Reason.FULL, "job " + name + " is not taken: 2 jobs wait already"));
    }
    return add(name, job, expectedVersion, author, reason);
  }

  @Override
  public CompletionStage<JobVersion> delete(
      String name, long expectedVersion, String author, String reason) {
    return add(name, null, expectedVersion, author, reason);
  }

  @Override
  public CompletionStage<JobVersion> rollBack(
      String name, long version, String author, String reason) {
    return add(name, Json.object().put("owner", "back").build(), ANY, author, reason);
  }

  @Override
  public CompletionStage<JobValidation> check(String name, Json.Obj job) {
    List<Problem> problems = new ArrayList<>();
    job.members().keySet().stream()
        .filter(key -> key.startsWith("unknown"))
        .forEach(key -> problems.add(Problem.warning(key, "unknown key")));
    if (job.get("owner") != null) {
      return CompletableFuture.completedFuture(new JobValidation(problems, job));
    }
    problems.add(Problem.error("bistro_job->" + name + ".owner", "the key is missing"));
    return CompletableFuture.completedFuture(new JobValidation(problems, null));
  }

  @Override
  public synchronized CompletionStage<List<JobVersion>> history(String name) {
    return CompletableFuture.completedFuture(
        versions.stream().filter(v -> v.name().equals(name)).toList());
  }

  /** Plans an added job; a member {@code "broken"} is an error. */
  @Override
  public CompletionStage<ConfigPlan> plan(
      ConfigChange change, boolean fetchesNodes, long assumedMillis) {
    boolean bad = change.members().get("bistro_job->broken") != null;
    return CompletableFuture.completedFuture(
        new ConfigPlan(
            "v1",
            bad ? List.of(Problem.error("bistro_job->broken", "it is broken")) : List.of(),
            List.of(
                new ConfigPlan.Difference(
                    List.of("nodes", "password"), null, Json.of("open sesame"))),
            List.of(new ConfigPlan.JobChange("new", ConfigPlan.Kind.ADDED, List.of(), "old")),
            bad || !fetchesNodes ? null : IMPACT,
            bad || !fetchesNodes ? null : forecast(assumedMillis),
            bad || !fetchesNodes ? "it is not counted" : "",
            Map.of("kills", 1L),
            bad ? "" : "token",
            bad ? 0 : 9_000));
  }

  @Override
  public CompletionStage<AppliedPlan> apply(
      ConfigChange change, String token, Map<String, Long> consents, String author, String reason) {
    if (!token.equals("token")) {
      return CompletableFuture.failedFuture(
          new RefusedException(
              RefusedException.Reason.CONFLICT, "plan_forged", "this plan is forged"));
    }
    calls.accept("apply " + consents + " " + author + " " + reason);
    return plan(change, true, 0)
        .thenApply(
            plan ->
                new AppliedPlan(
                    List.of(new JobVersion("new", 1, 1_000, author, reason, Json.Obj.EMPTY)),
                    true,
                    plan));
  }
}
