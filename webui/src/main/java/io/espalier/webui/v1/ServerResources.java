package io.espalier.webui.v1;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for the scheduler itself: settings, problems, recent events. */
final class ServerResources {
  private static final int MAX_EVENTS = 1000;

  private final SchedulerApi api;
  private final ServerIdentity identity;

  ServerResources(SchedulerApi api, ServerIdentity identity) {
    this.api = api;
    this.identity = identity;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.SETTINGS, this::settings));
    routes.add(ApiRoute.get(ApiV1.PROBLEMS, this::problems));
    routes.add(ApiRoute.get(ApiV1.EVENTS, this::events));
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
    request.allowing();
    SchedulerView view = api.view();
    ProblemAges ages = api.problemAges();
    List<Json> problems = new ArrayList<>();
    for (Problem problem : view.configProblems()) {
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
    return CompletableFuture.completedFuture(answer.build());
  }

  private CompletionStage<Json> events(ApiRequest request) {
    request.allowing("after", "limit");
    int limit = (int) request.integer("limit", 100, 1, MAX_EVENTS);
    long newest = api.events().newest();
    long after = request.integer("after", Math.max(0, newest - limit), 0, Long.MAX_VALUE);
    long oldest = api.events().oldest();
    return api.events()
        .past(after, limit)
        .thenApply(
            found -> {
              List<Json> events = new ArrayList<>();
              for (Event event : found) {
                events.add(ApiJson.event(event));
              }
              return Json.object()
                  .put(
                      "oldest",
                      found.isEmpty() ? oldest : Math.min(oldest, found.get(0).sequence()))
                  .put("newest", newest)
                  .put("events", new Json.Arr(events))
                  .build();
            });
  }
}
