package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.topology.Topology;
import io.espalier.webui.v1.json.ApiJson;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The resource that summarizes the scheduler in one bounded answer, for clients that watch
 * thousands of schedulers: its jobs with a hash of their settings, its problems, and its
 * longest-running tasks.
 */
final class SummaryResources {
  private static final int MAX_PROBLEMS = 50;
  private static final int MAX_RUNNING = 1_000;

  private final SchedulerApi api;
  private final ServerIdentity identity;

  /** Two addresses that return the same value belong to one scheduler. */
  private final String process = UUID.randomUUID().toString();

  private final InstantSource clock = InstantSource.system();
  private volatile Hashes hashes = new Hashes(null, Map.of());

  /**
   * @param config the configuration of these jobs
   * @param byJob hash of a job's effective settings by its name
   */
  private record Hashes(@Nullable Config config, Map<String, String> byJob) {}

  SummaryResources(SchedulerApi api, ServerIdentity identity) {
    this.api = api;
    this.identity = identity;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.SUMMARY, this::summary));
  }

  private CompletionStage<Json> summary(ApiRequest request) {
    request.allowing("running");
    long most = request.integer("running", 100, 0, MAX_RUNNING);
    SchedulerView view = api.view();
    Config config = view.config();
    Topology topology = view.topology();
    List<Json> jobs = new ArrayList<>();
    if (config != null) {
      Map<String, String> hash = hashes(config);
      Map<String, NeverStarting> never = api.neverStarting();
      for (Job job : config.jobs().values()) {
        jobs.add(
            JobResources.summary(job, config, view, never)
                .put("config_hash", hash.getOrDefault(job.name(), ""))
                .build());
      }
    }
    List<Json> problems = new ArrayList<>();
    view.configProblems().stream()
        .limit(MAX_PROBLEMS)
        .forEach(problem -> problems.add(ApiJson.problem(problem)));
    List<Json> errors = new ArrayList<>();
    view.errors().entrySet().stream()
        .limit(MAX_PROBLEMS)
        .forEach(
            error ->
                errors.add(
                    Json.object()
                        .put("source", error.getKey())
                        .put("message", error.getValue())
                        .build()));
    List<Json> running = new ArrayList<>();
    List<RunningTaskView> longest =
        view.running().stream()
            .sorted(Comparator.comparingLong(task -> task.invocation().startMillis()))
            .limit(most)
            .toList();
    for (RunningTaskView task : longest) {
      running.add(
          Json.object()
              .put("job", task.job())
              .put("node", task.node())
              .put("started_at_ms", task.invocation().startMillis())
              .build());
    }
    return CompletableFuture.completedFuture(
        Json.object()
            .put("process", process)
            .put("version", identity.version())
            .put("runner", identity.runner())
            .putIfPresent("shard", ApiJson.shard(config))
            .put("at_ms", clock.millis())
            .put("published_at_ms", view.publishedAtMillis())
            .put("config_in_force", config != null)
            .put("nodes", topology == null ? 0 : topology.size())
            .put("nodes_at_ms", view.nodesAtMillis())
            .put("jobs", new Json.Arr(jobs))
            .put("problems_total", view.configProblems().size())
            .put("problems", new Json.Arr(problems))
            .put("errors", new Json.Arr(errors))
            .put("running_total", view.running().size())
            .put("running", new Json.Arr(running))
            .build());
  }

  /** Returns the hashes. A configuration is immutable, so they are computed once. */
  @SuppressWarnings("ReferenceEquality") // Comparing all jobs would cost more than the hashes.
  private Map<String, String> hashes(Config config) {
    Hashes known = hashes;
    if (known.config() != config) {
      Map<String, String> byJob = new HashMap<>();
      for (Job job : config.jobs().values()) {
        byJob.put(job.name(), hash(job, config));
      }
      known = new Hashes(config, Map.copyOf(byJob));
      hashes = known;
    }
    return known.byJob();
  }

  /**
   * Hashes the settings of a job. The time and the number of its versions do not count: they differ
   * where jobs are the same.
   */
  private static String hash(Job job, Config config) {
    Json.Obj settings =
        BistroJobWriter.toJson(job, config.settings())
            .without("version_id")
            .without("create_time")
            .without("modify_time");
    return ApiJson.hash(settings);
  }
}
