package io.espalier.webui.v1;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.webui.v1.json.ApiJson;
import io.espalier.webui.v1.json.SettingsJson;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for the scheduler itself: settings, problems. */
final class ServerResources {
  private static final int MAX_PAGE = 1_000;

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
    request.allowing("severity", "after", "limit");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    SchedulerView view = api.view();
    ProblemAges ages = api.problemAges();
    List<Problem> all = wanted(view.configProblems(), request.words("severity"));
    Json.Builder answer = Json.object().put("config_in_force", view.config() != null);
    if (list.paged()) {
      Map<String, Problem> byCursor = byCursor(all);
      ListRequest.Page<Map.Entry<String, Problem>> page =
          list.page(List.copyOf(byCursor.entrySet()), Map.Entry::getKey);
      answer.put("problems", json(page.items().stream().map(Map.Entry::getValue).toList(), ages));
      page.addTo(answer.put("total", byCursor.size()), list);
    } else {
      answer.put("problems", json(all, ages));
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
    answer.put("errors", new Json.Arr(errors));
    BrakeResources.addTo(answer, view);
    QuarantineResources.addTo(answer, view);
    return CompletableFuture.completedFuture(answer.build());
  }

  private static List<Problem> wanted(List<Problem> problems, List<String> severities) {
    return problems.stream()
        .filter(
            problem ->
                ListRequest.fits(severities, problem.severity().name().toLowerCase(Locale.ROOT)))
        .toList();
  }

  /**
   * Returns the problems by their cursors. Errors are before warnings, those of one severity in the
   * order of their paths. Equal problems are one.
   */
  private static Map<String, Problem> byCursor(List<Problem> problems) {
    Map<String, Problem> byCursor = new HashMap<>();
    for (Problem problem : problems) {
      String hash = ApiJson.hash(ApiJson.problem(problem));
      List<String> parts = List.of(problem.severity().name(), problem.shownPath(), hash);
      byCursor.put(JsonWriter.compact(Json.strings(parts)), problem);
    }
    return byCursor;
  }

  private static Json json(List<Problem> problems, ProblemAges ages) {
    List<Json> forms = new ArrayList<>();
    for (Problem problem : problems) {
      long since = ages.of(problem);
      Json.Obj form = ApiJson.problem(problem);
      forms.add(since == 0 ? form : form.with("since_ms", Json.of(since)));
    }
    return new Json.Arr(forms);
  }
}
