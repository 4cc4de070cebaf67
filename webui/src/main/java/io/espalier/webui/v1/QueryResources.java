package io.espalier.webui.v1;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.json.QueryJson;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Resources that explain the state: the tree, one node, redundancy groups, and why a job does not
 * progress.
 */
final class QueryResources {
  private static final int MAX_DEPTH = 1_000;
  private static final int MAX_GROUPS = 200;
  private static final int MOST_OF_KIND = 1_000;
  private static final int MAX_SAMPLES = 20;

  /** The longest duration of tasks that can be assumed. */
  static final long MOST_MILLIS = 366L * 86_400_000;

  private final SchedulerApi api;

  QueryResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.WAITING, this::waiting));
    routes.add(ApiRoute.get(ApiV1.FAILURES, this::failures));
    routes.add(ApiRoute.get(ApiV1.LEVELS, this::levels));
    routes.add(ApiRoute.get(ApiV1.TREE, this::tree));
    routes.add(ApiRoute.get(ApiV1.NODE, this::node));
    routes.add(ApiRoute.get(ApiV1.ETA, this::eta));
    routes.add(ApiRoute.get(ApiV1.GROUPS, this::groupKinds));
    routes.add(ApiRoute.get(ApiV1.GROUPS_OF_KIND, this::groups));
    routes.add(ApiRoute.get(ApiV1.ACTIVITY, this::activity));
    routes.add(ApiRoute.get(ApiV1.SNAPSHOT, this::snapshot));
  }

  private CompletionStage<Json> waiting(ApiRequest request) {
    request.allowing();
    return api.ask(new Query.Waiting(request.part("job"))).thenApply(QueryJson::waiting);
  }

  private CompletionStage<Json> failures(ApiRequest request) {
    request.allowing("limit");
    int limit = (int) request.integer("limit", 20, 1, MAX_GROUPS);
    return api.ask(new Query.Failures(request.part("job"), limit)).thenApply(QueryJson::failures);
  }

  private CompletionStage<Json> levels(ApiRequest request) {
    request.allowing("samples");
    int samples = (int) request.integer("samples", 5, 0, MAX_SAMPLES);
    return api.ask(new Query.Levels(request.part("job"), samples)).thenApply(QueryJson::levels);
  }

  private CompletionStage<Json> eta(ApiRequest request) {
    request.allowing("assume_ms");
    long assumed = request.integer("assume_ms", 0, 1, MOST_MILLIS);
    return api.ask(new Query.Eta(request.part("job"), assumed)).thenApply(QueryJson::eta);
  }

  private CompletionStage<Json> groupKinds(ApiRequest request) {
    request.allowing();
    return api.ask(new Query.GroupKinds())
        .thenApply(
            found -> {
              List<Json> kinds = new ArrayList<>();
              found.forEach(kind -> kinds.add(QueryJson.groupKind(kind)));
              return Json.object().put("kinds", new Json.Arr(kinds)).build();
            });
  }

  private CompletionStage<Json> groups(ApiRequest request) {
    request.allowing("state", "after", "limit");
    boolean onlyFull = request.choice("state", "any", List.of("any", "full")).equals("full");
    int limit = (int) request.integer("limit", 50, 1, MOST_OF_KIND);
    return api.ask(new Query.Groups(request.part("kind"), onlyFull, request.text("after"), limit))
        .thenApply(QueryJson::groups);
  }

  private CompletionStage<Json> activity(ApiRequest request) {
    request.allowing("job");
    return api.ask(new Query.Activity(request.text("job"))).thenApply(QueryJson::activity);
  }

  private CompletionStage<Json> snapshot(ApiRequest request) {
    request.allowing();
    return api.snapshot()
        .thenApply(
            bytes ->
                Json.object().put("recording", Base64.getEncoder().encodeToString(bytes)).build());
  }

  private CompletionStage<Json> tree(ApiRequest request) {
    request.allowing("root", "level", "job", "depth", "limit");
    Query.Tree query =
        new Query.Tree(
            request.text("root"),
            request.text("level"),
            request.text("job"),
            (int) request.integer("depth", MAX_DEPTH, 0, MAX_DEPTH),
            (int) request.integer("limit", 2_000, 1, Query.Tree.MOST));
    return api.ask(query).thenApply(QueryJson::tree);
  }

  private CompletionStage<Json> node(ApiRequest request) {
    request.allowing();
    return api.ask(new Query.Node(request.part("level"), request.part("node")))
        .thenApply(QueryJson::node);
  }
}
