package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.core.topology.Topology;
import io.espalier.webui.v1.json.QueryJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for the node tree, in pages. */
final class NodeResources {
  private static final int MAX_PAGE = 10_000;

  private final SchedulerApi api;
  private final NodeLimitIndex limits = new NodeLimitIndex();

  NodeResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.NODES, this::nodes));
  }

  private CompletionStage<Json> nodes(ApiRequest request) {
    request.allowing("level", "prefix", "after", "limit");
    int limit = (int) request.integer("limit", 1000, 1, MAX_PAGE);
    String prefix = request.text("prefix");
    SchedulerView view = api.view();
    Topology topology = view.topology();
    if (topology == null) {
      throw new ApiException(503, "the nodes were not fetched yet; see " + ApiV1.PROBLEMS);
    }
    List<String> levels = topology.levels().names().subList(0, topology.levels().worker());
    String level = request.choice("level", "", levels);
    int first = level.isEmpty() ? 0 : topology.levelStart(topology.levels().find(level));
    int end = level.isEmpty() ? topology.size() : topology.levelEnd(topology.levels().find(level));
    NodeLimitIndex.Of own = limits.of(view);
    List<Json> page = new ArrayList<>();
    String next = "";
    int last = -1;
    for (int n = Math.max(first, begin(topology, request.text("after"))); n < end; n++) {
      if (topology.name(n).startsWith(prefix)) {
        if (page.size() == limit) {
          next = topology.level(last) + ":" + topology.name(last);
          break;
        }
        page.add(node(topology, n, own));
        last = n;
      }
    }
    return CompletableFuture.completedFuture(
        Json.object()
            .put("fetched_at_ms", view.nodesAtMillis())
            .put("nodes", new Json.Arr(page))
            .put("next", next)
            .build());
  }

  /**
   * Returns the position after the node of the cursor; a cursor names a node, so it survives a
   * refresh of other nodes.
   */
  private static int begin(Topology topology, String cursor) {
    if (cursor.isEmpty()) {
      return 0;
    }
    int colon = cursor.indexOf(':');
    int node = -1;
    try {
      int level = colon < 0 ? -1 : Integer.parseInt(cursor.substring(0, colon));
      if (level >= 0 && level < topology.levels().worker()) {
        node = topology.find(level, cursor.substring(colon + 1));
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    if (node < 0) {
      throw ApiException.badRequest("the cursor \"after\" is not valid any more; begin again");
    }
    return node + 1;
  }

  private static Json node(Topology topology, int node, NodeLimitIndex.Of own) {
    Json.Builder json = QueryJson.putNode(Json.object(), topology, node);
    Map<String, Integer> limits = own.limits(node);
    if (!limits.isEmpty()) {
      Json.Builder byResource = Json.object();
      limits.forEach(byResource::put);
      json.put("limits", byResource.build());
    }
    return json.build();
  }
}
