package io.espalier.webui.v1;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.SetRule;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Causes;
import io.espalier.core.running.Counters;
import io.espalier.webui.v1.json.ApiJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Resources for sets of jobs: a set is a name for jobs, and what is asked goes to each of them. */
final class SetResources {
  private static final int MAX_PAGE = 1_000;

  private final SchedulerApi api;
  private final Map<String, OperationResources.Operation> operations;

  SetResources(SchedulerApi api, OperationResources operations) {
    this.api = api;
    this.operations = operations.operations();
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.SETS, this::sets));
    routes.add(ApiRoute.get(ApiV1.SET, this::set));
    routes.add(ApiRoute.post(ApiV1.SET_ACTION, this::act));
  }

  private CompletionStage<Json> sets(ApiRequest request) {
    request.allowing("after", "limit");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    SchedulerView view = api.view();
    Config config = JobResources.config(view);
    Map<String, List<Job>> members = new TreeMap<>();
    for (Job job : config.jobs().values()) {
      if (!job.set().isEmpty()) {
        members.computeIfAbsent(job.set(), set -> new ArrayList<>()).add(job);
      }
    }
    ListRequest.Page<Map.Entry<String, List<Job>>> page =
        list.page(List.copyOf(members.entrySet()), Map.Entry::getKey);
    List<Json> sets = new ArrayList<>();
    page.items()
        .forEach(set -> sets.add(summary(set.getKey(), set.getValue(), config, view).build()));
    return CompletableFuture.completedFuture(
        page.addTo(
                Json.object()
                    .put("published_at_ms", view.publishedAtMillis())
                    .put("sets", new Json.Arr(sets)),
                list)
            .build());
  }

  private CompletionStage<Json> set(ApiRequest request) {
    String set = request.allowing().part("set");
    SchedulerView view = api.view();
    Config config = JobResources.config(view);
    List<Job> members = members(set, config);
    List<Json> jobs = new ArrayList<>();
    Map<String, NeverStarting> never = api.neverStarting();
    members.forEach(job -> jobs.add(JobResources.summary(job, config, view, never).build()));
    return CompletableFuture.completedFuture(
        summary(set, members, config, view).put("jobs", new Json.Arr(jobs)).build());
  }

  /** Does the same to each job of a set, in order; a job that refuses does not stop the others. */
  private CompletionStage<Json> act(ApiRequest request) {
    String action = request.allowing().part("action");
    OperationResources.Operation operation = operations.get(action);
    if (operation == null) {
      throw ApiException.notFound("there is no action \"" + action + "\" for sets");
    }
    if (request.body().get("expect") != null) {
      throw ApiException.badRequest("\"expect\" counts the tasks of one job, not of a set");
    }
    String set = request.part("set");
    List<Json> answers = new ArrayList<>();
    CompletionStage<Void> all = CompletableFuture.completedFuture(null);
    for (Job job : members(set, JobResources.config(api.view()))) {
      all =
          all.thenCompose(before -> operation.on(job.name(), request))
              .handle(
                  (answer, failure) -> {
                    answers.add(failure == null ? answer : refusal(job.name(), failure));
                    return null;
                  });
    }
    return all.thenApply(
        done ->
            Json.object()
                .put("set", set)
                .put("jobs", new Json.Arr(answers))
                .put("refused", answers.stream().filter(SetResources::isRefusal).count())
                .build());
  }

  private static boolean isRefusal(Json answer) {
    return answer instanceof Json.Obj object && object.get("refused") != null;
  }

  private static Json refusal(String job, Throwable failure) {
    Throwable cause = Causes.of(failure);
    if (cause instanceof RefusedException) {
      return Json.object()
          .put("job", job)
          .put("refused", String.valueOf(cause.getMessage()))
          .build();
    }
    throw cause instanceof RuntimeException problem ? problem : new CompletionException(cause);
  }

  /** Returns the jobs of a set, at least one. */
  static List<Job> members(String set, Config config) {
    List<Job> members =
        config.jobs().values().stream()
            .filter(job -> !set.isEmpty() && job.set().equals(set))
            .toList();
    if (members.isEmpty()) {
      throw ApiException.notFound("no job belongs to a set \"" + set + "\"");
    }
    return members;
  }

  /** Returns schema {@code JobSet} for further members to be added. */
  private static Json.Builder summary(
      String set, List<Job> jobs, Config config, SchedulerView view) {
    JobProgress sum = JobProgress.none(set);
    Map<String, Long> states = new TreeMap<>();
    Counters counters = Counters.NONE;
    Map<String, Double> rates = new TreeMap<>();
    for (Job job : jobs) {
      JobProgress progress = view.progress().get(job.name());
      if (progress != null) {
        sum = sum.plus(progress);
        progress.counterRates().forEach((name, rate) -> rates.merge(name, rate, Double::sum));
      }
      JobStateRecord jobState = view.jobStates().get(job.name());
      if (jobState != null) {
        states.merge(jobState.state().word(), 1L, Long::sum);
        counters = counters.plus(jobState.counters());
      }
    }
    Json.Builder byState = Json.object();
    states.forEach(byState::put);
    Json.Builder summary =
        Json.object()
            .put("name", set)
            .put("size", jobs.size())
            .put("states", byState.build())
            .put("progress", ApiJson.progress(sum))
            .putIfPresent("counters", ApiJson.counters(counters, rates));
    SetRule rule = config.settings().sets().get(set);
    if (rule != null && rule.failWhenFailedJobs() > 0) {
      summary.put("fail_when_failed_jobs", rule.failWhenFailedJobs());
    }
    return summary;
  }
}
