package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import io.espalier.webui.security.AuditEntry;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Resources for the caller's identity and the audit log. */
final class SecurityResources {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1000;

  private final AuditLog audit;
  private final String scheduler;

  /**
   * @param scheduler the name of the scheduler; empty for another server
   */
  SecurityResources(AuditLog audit, String scheduler) {
    this.audit = audit;
    this.scheduler = scheduler;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.ME, this::me));
    routes.add(ApiRoute.get(ApiV1.AUDIT, this::audit));
  }

  private CompletionStage<Json> me(ApiRequest request) {
    request.allowing();
    return CompletableFuture.completedFuture(
        Json.object()
            .put("name", request.caller().name())
            .put("role", request.caller().role().label())
            .put("authenticated", request.caller().authenticated())
            .putIfPresent("operates_queues", queues(request.caller()))
            .putIfPresent("scheduler", scheduler.isEmpty() ? null : Json.of(scheduler))
            .build());
  }

  private static Json.@Nullable Arr queues(Principal caller) {
    return caller.queues().isEmpty()
        ? null
        : new Json.Arr(caller.queues().stream().sorted().<Json>map(Json::of).toList());
  }

  private CompletionStage<Json> audit(ApiRequest request) {
    request.allowing("after", "limit");
    int limit = (int) request.integer("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    long below = request.integer("after", Long.MAX_VALUE, 1, Long.MAX_VALUE);
    // One additional entry shows whether there are more.
    return audit
        .before(below, limit + 1)
        .thenApply(
            found -> {
              List<Json> entries = new ArrayList<>();
              for (AuditEntry entry : found.subList(0, Math.min(limit, found.size()))) {
                entries.add(entry.toJson());
              }
              return Json.object()
                  .put("entries", new Json.Arr(entries))
                  .put("next", found.size() > limit ? Long.toString(found.get(limit - 1).id()) : "")
                  .build();
            });
  }
}
