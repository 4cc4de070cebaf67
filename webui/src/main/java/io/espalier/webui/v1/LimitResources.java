package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.health.ProbeView;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for overrides of limits, and for probes, which limits follow. */
final class LimitResources {
  private static final int MAX_PAGE = 1_000;

  private final SchedulerApi api;

  LimitResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.LIMITS, this::limits));
    routes.add(new ApiRoute("PUT", ApiV1.LIMIT_OF_LEVEL, true, this::set));
    routes.add(new ApiRoute("DELETE", ApiV1.LIMIT_OF_LEVEL, true, this::end));
    routes.add(new ApiRoute("PUT", ApiV1.LIMIT_OF_NODE, true, this::set));
    routes.add(new ApiRoute("DELETE", ApiV1.LIMIT_OF_NODE, true, this::end));
    routes.add(ApiRoute.get(ApiV1.PROBES, this::probes));
    routes.add(new ApiRoute("PUT", ApiV1.PUSH_PROBE, true, this::pushProbe));
  }

  private CompletionStage<Json> limits(ApiRequest request) {
    request.allowing("level", "resource", "node", "after", "limit");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    return api.ask(new Query.Limits())
        .thenApply(
            found -> {
              ListRequest.Page<LimitView> page =
                  list.page(
                      found.stream()
                          .filter(limit -> isWanted(limit.override().key(), request))
                          .toList(),
                      limit -> cursor(limit.override().key()));
              List<Json> overrides = new ArrayList<>();
              page.items().forEach(limit -> overrides.add(json(limit).build()));
              return page.addTo(Json.object().put("overrides", new Json.Arr(overrides)), list)
                  .build();
            });
  }

  /** As JSON, so that no two keys have the same, whatever is in their names. */
  private static String cursor(LimitOverride.Key key) {
    return JsonWriter.compact(Json.strings(List.of(key.level(), key.resource(), key.node())));
  }

  private static boolean isWanted(LimitOverride.Key key, ApiRequest request) {
    return ListRequest.fits(request.all("level"), key.level())
        && ListRequest.fits(request.all("resource"), key.resource())
        && ListRequest.fits(request.all("node"), key.node());
  }

  private CompletionStage<Json> set(ApiRequest request) {
    request.allowing().allowingInBody("limit", "expires_in_seconds", "author", "reason");
    LimitOverride.Key key = key(request);
    LimitOverride override =
        new LimitOverride(
            key.level(),
            key.resource(),
            key.node(),
            (int) BodyFields.whole(request, "limit", -1, Integer.MAX_VALUE),
            BodyFields.author(request),
            request.bodyText("reason"),
            0,
            0);
    return api.run(new Command.SetLimit(override, BodyFields.expiresInMillis(request)))
        .thenApply(limit -> json(limit).build());
  }

  private CompletionStage<Json> end(ApiRequest request) {
    request.allowing("author", "reason").allowingInBody("author", "reason");
    String author = request.caller().author(request.text("author"));
    String reason = request.text("reason");
    return api.run(
            new Command.EndLimit(
                key(request),
                author.isEmpty() ? BodyFields.author(request) : author,
                reason.isEmpty() ? request.bodyText("reason") : reason))
        .thenApply(limit -> json(limit).put("ended", true).build());
  }

  private static LimitOverride.Key key(ApiRequest request) {
    return new LimitOverride.Key(
        request.part("level"), request.part("resource"), request.path().getOrDefault("node", ""));
  }

  private static Json.Builder json(LimitView view) {
    LimitOverride override = view.override();
    Json.Builder json =
        Json.object().put("level", override.level()).put("resource", override.resource());
    if (!override.isOfLevel()) {
      json.put("node", override.node());
    }
    json.put("limit", override.limit());
    if (view.configured() != null) {
      json.put("configured", view.configured());
    }
    if (override.untilMillis() > 0) {
      json.put("expires_at_ms", override.untilMillis());
    }
    return json.put("author", override.author())
        .put("reason", override.reason())
        .put("set_at_ms", override.sinceMillis());
  }

  // ---- probes

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

  private CompletionStage<Json> pushProbe(ApiRequest request) {
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
