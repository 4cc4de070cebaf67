package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.ProbeView;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** {@code /api/v1/probes}. */
final class ProbeResources {
  private final SchedulerApi api;

  ProbeResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.PROBES, this::probes));
    routes.add(new ApiRoute("PUT", ApiV1.PUSH_PROBE, true, this::push));
  }

  private CompletionStage<Json> probes(ApiRequest request) {
    request.allowing();
    List<Json> probes = new ArrayList<>();
    api.view().probes().forEach(each -> probes.add(json(each)));
    return CompletableFuture.completedFuture(
        Json.object().put("probes", new Json.Arr(probes)).build());
  }

  private static Json json(ProbeView probe) {
    List<Json> resources = new ArrayList<>();
    probe
        .resources()
        .forEach(
            each ->
                resources.add(
                    Json.object()
                        .put("resource", each.resource())
                        .put("floor", each.floor())
                        .put("lowered", each.lowered())
                        .put("at_floor", each.atFloor())
                        .build()));
    List<Json> lowered = new ArrayList<>();
    probe
        .lowered()
        .forEach(
            each ->
                lowered.add(
                    Json.object()
                        .put("node", each.node())
                        .put("resource", each.resource())
                        .put("limit", each.limit())
                        .put("of", each.of())
                        .put("reason", each.reason())
                        .build()));
    Json.Builder json =
        Json.object()
            .put("name", probe.probe())
            .put("level", probe.level())
            .put("source", probe.source())
            .put("bad_above", probe.badAbove())
            .put("good_below", probe.goodBelow())
            .put("nodes", probe.nodes())
            .put("fresh", probe.fresh())
            .put("bad", probe.bad())
            .put("resources", new Json.Arr(resources))
            .put("lowered", new Json.Arr(lowered));
    if (probe.answeredMillis() > 0) {
      json.put("answered_at_ms", probe.answeredMillis());
    }
    if (!probe.problem().isEmpty()) {
      json.put("problem", probe.problem());
    }
    return json.build();
  }

  private CompletionStage<Json> push(ApiRequest request) {
    request.allowing().allowingInBody("value", "author", "reason");
    double value = request.bodyNumber("value", -Double.MAX_VALUE, Double.MAX_VALUE);
    String probe = request.part("probe");
    String node = request.part("node");
    return api.run(
            new Command.PushProbe(
                probe, node, value, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(
            followers ->
                Json.object()
                    .put("probe", probe)
                    .put("node", node)
                    .put("value", value)
                    .put("resources", followers)
                    .build());
  }
}
