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

  /** So many entries a request with filters looks at: others wait for the log meanwhile. */
  private static final int MOST_LOOKED_AT = 5000;

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
    request.allowing("after", "limit", "who", "action", "target");
    int limit = (int) request.integer("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    long below = request.integer("after", Long.MAX_VALUE, 1, Long.MAX_VALUE);
    String who = request.text("who");
    String action = request.text("action");
    String target = request.text("target");
    boolean all = who.isEmpty() && action.isEmpty() && target.isEmpty();
    int most = all ? limit : MOST_LOOKED_AT;
    // One additional entry shows whether there are more.
    return audit
        .before(below, most + 1)
        .thenApply(
            found -> {
              List<Json> entries = new ArrayList<>();
              int looked = 0;
              for (; looked < Math.min(most, found.size()) && entries.size() < limit; looked++) {
                AuditEntry entry = found.get(looked);
                if ((who.isEmpty() || who.equals(entry.who()))
                    && (action.isEmpty() || action.equals(entry.action()))
                    && (target.isEmpty() || isIn(entry.target(), target))) {
                  entries.add(entry.toJson());
                }
              }
              return Json.object()
                  .put("entries", new Json.Arr(entries))
                  .put(
                      "next",
                      found.size() > looked ? Long.toString(found.get(looked - 1).id()) : "")
                  .build();
            });
  }

  /** Returns whether a target is this one, or a part of it: a task is a part of its job. */
  private static boolean isIn(String target, String whole) {
    return target.equals(whole) || target.startsWith(whole + "/");
  }
}
