package io.espalier.webui.v1;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.webui.v1.json.ApiJson;
import io.espalier.webui.v1.json.SettingsJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for the scheduler itself: settings, problems. */
final class ServerResources {
  private final SchedulerApi api;
  private final ServerIdentity identity;

  ServerResources(SchedulerApi api, ServerIdentity identity) {
    this.api = api;
    this.identity = identity;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.SETTINGS, this::settings));
    routes.add(ApiRoute.get(ApiV1.PROBLEMS, this::problems));
  }

  private CompletionStage<Json> settings(ApiRequest request) {
    request.allowing();
    Config config = api.view().config();
    if (config == null) {
      throw new ApiException(503, api.view().whyNoConfig() + "; see " + ApiV1.PROBLEMS);
    }
    return CompletableFuture.completedFuture(
        Json.object()
            .put("version", identity.version())
            .put("runner", identity.runner())
            .putIfPresent("shard", ApiJson.shard(config))
            .put("effective", SettingsJson.of(config.settings()))
            .build());
  }

  private CompletionStage<Json> problems(ApiRequest request) {
    request.allowing("severity");
    List<String> severities = request.all("severity");
    SchedulerView view = api.view();
    ProblemAges ages = api.problemAges();
    List<Json> problems = new ArrayList<>();
    for (Problem problem : view.configProblems()) {
      if (!ListRequest.fits(severities, problem.severity().name().toLowerCase(Locale.ROOT))) {
        continue;
      }
      long since = ages.of(problem);
      Json.Obj form = ApiJson.problem(problem);
      problems.add(since == 0 ? form : form.with("since_ms", Json.of(since)));
    }
    List<Json> errors = new ArrayList<>();
    view.errors()
        .forEach(
            (source, message) -> {
              Json.Builder error = Json.object().put("source", source).put("message", message);
              if (ages.ofError(source) > 0) {
                error.put("since_ms", ages.ofError(source));
              }
              errors.add(error.build());
            });
    Json.Builder answer =
        Json.object()
            .put("config_in_force", view.config() != null)
            .put("problems", new Json.Arr(problems))
            .put("errors", new Json.Arr(errors));
    BrakeResources.addTo(answer, view);
    QuarantineResources.addTo(answer, view);
    return CompletableFuture.completedFuture(answer.build());
  }
}
