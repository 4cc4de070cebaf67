package io.espalier.webui.v1;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.keys.InfoKeys;
import io.espalier.core.config.keys.StartRateKeys;
import io.espalier.core.json.Json;
import io.espalier.core.json.Secrets;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.status.StatusBits;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.store.Pause;
import io.espalier.webui.security.SecretMask;
import io.espalier.webui.v1.json.ApiJson;
import io.espalier.webui.v1.json.RolloutJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** Resources for jobs: list, detail, histogram. */
final class JobResources {
  private static final int MAX_PAGE = 10_000;

  /** The members that schema {@code Job} requires. */
  private static final Set<String> REQUIRED =
      Set.of("name", "owner", "enabled", "valid", "paused", "level", "priority", "depends_on");

  private final SchedulerApi api;

  JobResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.JOBS, this::jobs));
    routes.add(ApiRoute.get(ApiV1.JOB, this::job).tagged(JobVersionResources::tag));
    routes.add(ApiRoute.get(ApiV1.HISTOGRAM, this::histogram));
  }

  private CompletionStage<Json> jobs(ApiRequest request) {
    request.allowing(
        "state", "queue", "owner", "set", "label", "prefix", "fields", "after", "limit");
    for (String label : request.words("label")) {
      if (label.indexOf('=') < 1) {
        throw ApiException.badRequest("label: expected NAME=VALUE, such as team=storage");
      }
    }
    ListRequest list = ListRequest.of(request, Integer.MAX_VALUE, MAX_PAGE);
    SchedulerView view = api.view();
    Config config = config(view);
    Map<String, NeverStarting> never = api.neverStarting();
    Predicate<Job> wanted = wanted(request, view);
    List<Json> jobs = new ArrayList<>();
    String last = "";
    String next = "";
    // The cursor is a name, so it outlives its job.
    for (Job job : config.jobs().tailMap(list.after()).values()) {
      if (job.name().equals(list.after()) || !wanted.test(job)) {
        continue;
      }
      if (jobs.size() == list.limit()) {
        next = last;
        break;
      }
      last = job.name();
      jobs.add(list.item(summary(job, config, view, never).build(), REQUIRED));
    }
    Json.Builder answer =
        Json.object()
            .put("published_at_ms", view.publishedAtMillis())
            .put("jobs", new Json.Arr(jobs));
    if (list.paged()) {
      answer.put("next", next);
    }
    BrakeResources.addTo(answer, view);
    QuarantineResources.addTo(answer, view);
    return CompletableFuture.completedFuture(answer.build());
  }

  /** Returns what the filters of a request let through; it reads each of them once. */
  private static Predicate<Job> wanted(ApiRequest request, SchedulerView view) {
    String prefix = request.text("prefix");
    Set<String> states = Set.copyOf(request.words("state"));
    Set<String> queues = Set.copyOf(request.all("queue"));
    Set<String> owners = Set.copyOf(request.all("owner"));
    Set<String> sets = Set.copyOf(request.all("set"));
    Set<String> labels = Set.copyOf(request.words("label"));
    return job -> {
      JobStateRecord jobState = view.jobStates().get(job.name());
      return job.name().startsWith(prefix)
          && ListRequest.fits(states, jobState == null ? "" : jobState.state().word())
          && ListRequest.fits(queues, job.scheduling().queue())
          && ListRequest.fits(owners, job.owner())
          && ListRequest.fits(sets, job.set())
          && labels.stream().allMatch(job.info()::has);
    };
  }

  private CompletionStage<Json> job(ApiRequest request) {
    request.allowing();
    SchedulerView view = api.view();
    Config config = config(view);
    Job job = config.job(request.part("job"));
    if (job == null) {
      throw ApiException.notFound("there is no job \"" + request.part("job") + "\"");
    }
    List<Json> problems = new ArrayList<>();
    for (Problem problem : job.problems()) {
      problems.add(ApiJson.problem(problem));
    }
    Json.Builder detail = summary(job, config, view, api.neverStarting());
    Secrets.hideTexts(InfoKeys.INFO.write(job.info())).members().forEach(detail::put);
    return CompletableFuture.completedFuture(
        detail
            .put("version", Math.max(0, job.versionId()))
            .put("problems", new Json.Arr(problems))
            .put("effective", SecretMask.job(job, config.settings(), request.caller()))
            .put("original", SecretMask.job(job.original(), request.caller()))
            .build());
  }

  /** Returns schema {@code Job} for further members to be added. */
  static Json.Builder summary(
      Job job, Config config, SchedulerView view, Map<String, NeverStarting> neverStarting) {
    Pause pause = view.pauses().get(job.name());
    JobProgress progress = view.progress().get(job.name());
    Json.Builder summary =
        Json.object()
            .put("name", job.name())
            .put("owner", job.owner())
            .put("enabled", job.enabled())
            .put("valid", job.isValid())
            .put("paused", pause != null)
            .put("level", config.settings().levels().name(job.level()))
            .put("priority", job.priority())
            .put("depends_on", Json.strings(job.dependsOn()));
    if (!job.set().isEmpty()) {
      summary.put("set", job.set());
    }
    if (!job.info().labels().isEmpty()) {
      // Only what lists are filtered by: descriptions of ten thousand jobs would be large.
      summary.putIfPresent(
          "labels", Secrets.hideTexts(InfoKeys.INFO.write(job.info())).get("labels"));
    }
    JobStateRecord jobState = view.jobStates().get(job.name());
    if (pause != null) {
      if (!pause.reason().isEmpty()) {
        summary.put("pause_reason", pause.reason());
      }
      summary.put("pause", pause(pause, jobState != null && jobState.stopped()));
    }
    if (jobState != null) {
      summary
          .put("state", jobState.state().word())
          .put("state_reason", jobState.reason())
          .put("state_since_ms", jobState.sinceMillis());
    }
    NeverStarting never = neverStarting.get(job.name());
    if (never != null) {
      summary.put("tasks_never", never.tasks()).put("never_reason", never.reason());
    }
    Rollout rollout = view.rollouts().get(job.name());
    if (rollout != null) {
      summary.put("rollout", RolloutJson.of(rollout));
    }
    job.problems().stream()
        .filter(Problem::isError)
        .findFirst()
        .ifPresent(problem -> summary.put("problem", problem.toString()));
    String warning =
        job.problems().stream()
            .filter(problem -> !problem.isError())
            .findFirst()
            .map(Problem::message)
            .orElse("");
    if (!warning.isEmpty()) {
      summary.put("warning", warning);
    }
    job.timeLimits()
        .completeBy()
        .ifPresent(
            instant ->
                summary
                    .put("complete_by_ms", instant.toEpochMilli())
                    .put("past_deadline", instant.toEpochMilli() <= view.publishedAtMillis()));
    summary.put("queue", job.scheduling().queue());
    if (job.scheduling().maxConcurrent() > 0) {
      summary.put("max_concurrent", job.scheduling().maxConcurrent());
    }
    if (job.scheduling().maxStarting() > 0) {
      summary.put("max_starting", job.scheduling().maxStarting());
    }
    job.scheduling()
        .startRate()
        .ifPresent(rate -> summary.put("start_rate", StartRateKeys.START_RATE.write(rate)));
    if (progress == null) {
      return summary;
    }
    ApiJson.pace(summary, progress);
    summary.putIfPresent(
        "counters",
        jobState == null ? null : ApiJson.counters(jobState.counters(), progress.counterRates()));
    return summary.put("progress", ApiJson.progress(progress));
  }

  private static Json pause(Pause pause, boolean stopped) {
    Json.Builder json =
        Json.object()
            .put("reason", pause.reason())
            .put("author", pause.operator())
            .put("since_ms", pause.sinceMillis());
    if (pause.untilMillis() > 0) {
      json.put("expires_at_ms", pause.untilMillis());
    }
    if (stopped) {
      json.put("stopped", true);
    }
    return json.build();
  }

  private CompletionStage<Json> histogram(ApiRequest request) {
    request.allowing("samples");
    int samples = (int) request.integer("samples", 0, 0, 10);
    String job = request.part("job");
    return api.ask(new Query.Histograms(List.of(job), samples))
        .thenApply(
            found -> {
              if (found.isEmpty()) {
                throw ApiException.notFound("there is no valid job \"" + job + "\"");
              }
              return histogram(found.get(0));
            });
  }

  private static Json histogram(Histogram histogram) {
    Json.Builder levels = Json.object();
    histogram
        .levels()
        .forEach(
            (level, buckets) -> {
              List<Json> list = new ArrayList<>();
              buckets.forEach(
                  (bits, bucket) ->
                      list.add(
                          Json.object()
                              .put("bits", bits)
                              .put("encoded", StatusBits.encode(StatusBits.inBistro(bits)))
                              .put("status", StatusLabel.of(bits).word())
                              .put("count", bucket.count())
                              .put("samples", Json.strings(bucket.samples()))
                              .build()));
              levels.put(level, new Json.Arr(list));
            });
    return Json.object().put("job", histogram.job()).put("levels", levels.build()).build();
  }

  static Config config(SchedulerView view) {
    Config config = view.config();
    if (config == null) {
      throw new ApiException(503, view.whyNoConfig() + "; see " + ApiV1.PROBLEMS);
    }
    return config;
  }
}
