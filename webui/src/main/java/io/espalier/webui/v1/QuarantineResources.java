package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.Quarantine;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for quarantines: list, set, lift. */
final class QuarantineResources {
  private final SchedulerApi api;

  QuarantineResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.QUARANTINES, this::quarantines));
    routes.add(new ApiRoute("POST", ApiV1.QUARANTINES, true, this::set));
    routes.add(new ApiRoute("POST", ApiV1.LIFT_QUARANTINE, true, this::lift));
  }

  private CompletionStage<Json> quarantines(ApiRequest request) {
    request.allowing();
    return CompletableFuture.completedFuture(
        Json.object().put("quarantines", list(api.view())).build());
  }

  /** Adds the quarantines and suggestions, if there are any. */
  static void addTo(Json.Builder answer, SchedulerView view) {
    if (!view.quarantines().isEmpty()) {
      answer.put("quarantines", list(view));
    }
  }

  private static Json.Arr list(SchedulerView view) {
    return new Json.Arr(view.quarantines().stream().map(QuarantineResources::json).toList());
  }

  private CompletionStage<Json> set(ApiRequest request) {
    Quarantine.Key key = key(request);
    return api.run(
            new Command.SetQuarantine(key, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(QuarantineResources::json);
  }

  private CompletionStage<Json> lift(ApiRequest request) {
    Quarantine.Key key = key(request);
    return api.run(
            new Command.LiftQuarantine(key, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(QuarantineResources::json);
  }

  private static Quarantine.Key key(ApiRequest request) {
    request.allowing().allowingInBody("node", "level", "job", "author", "reason");
    String node = request.bodyText("node");
    if (node.isEmpty()) {
      throw ApiException.badRequest("\"node\" is missing in the body");
    }
    return new Quarantine.Key(request.bodyText("level"), node, request.bodyText("job"));
  }

  private static Json json(Quarantine quarantine) {
    Json.Builder json =
        Json.object().put("level", quarantine.key().level()).put("node", quarantine.key().node());
    if (!quarantine.key().job().isEmpty()) {
      json.put("job", quarantine.key().job());
    }
    json.put("words", quarantine.key().toString()).put("suggested", quarantine.suggested());
    if (quarantine.isAutomatic()) {
      json.put("trials", quarantine.trials()).put("next_trial_at_ms", quarantine.trialMillis());
    }
    return json.put("author", quarantine.author())
        .put("reason", quarantine.reason())
        .put("set_at_ms", quarantine.sinceMillis())
        .build();
  }
}
