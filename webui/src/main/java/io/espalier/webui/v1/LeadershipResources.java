package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.LeadershipView;
import io.espalier.core.json.Json;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for the leadership of this scheduler: its state, and stepping down. */
final class LeadershipResources {
  private final SchedulerApi api;
  private final InstantSource clock = InstantSource.system();

  LeadershipResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.LEADERSHIP, this::leadership));
    routes.add(ApiRoute.admin("POST", ApiV1.STEP_DOWN, this::stepDown));
  }

  private CompletionStage<Json> leadership(ApiRequest request) {
    request.allowing();
    return CompletableFuture.completedFuture(json());
  }

  private CompletionStage<Json> stepDown(ApiRequest request) {
    request.allowing().allowingInBody("reason");
    api.leadership().stepDown(request.bodyText("reason"));
    return CompletableFuture.completedFuture(json());
  }

  private Json json() {
    LeadershipView view = api.leadership().view();
    Json.Builder body =
        Json.object()
            .put("elected", view.elected())
            .put("epoch", view.epoch())
            .put("candidates", Json.strings(view.candidates()))
            .put("time_ms", clock.millis());
    if (view.certainMillis() != Long.MAX_VALUE) {
      body.put("certain_ms", view.certainMillis());
    }
    if (view.problem() != null) {
      body.put("problem", view.problem());
    }
    return body.build();
  }
}
