package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.notification.NotifierView;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Resources for notifiers: list, test. */
final class NotificationResources {
  private final SchedulerApi api;

  NotificationResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.NOTIFICATIONS, this::notifiers));
    routes.add(new ApiRoute("POST", ApiV1.TEST_NOTIFIER, true, this::test));
  }

  private CompletionStage<Json> notifiers(ApiRequest request) {
    request.allowing();
    List<Json> notifiers = new ArrayList<>();
    api.notifiers().forEach(each -> notifiers.add(json(each)));
    return CompletableFuture.completedFuture(
        Json.object().put("notifiers", new Json.Arr(notifiers)).build());
  }

  private static Json json(NotifierView notifier) {
    Json.Builder json =
        Json.object()
            .put("name", notifier.name())
            .put("kind", notifier.kind())
            .put("target", notifier.target())
            .put("state", notifier.state())
            .put("waiting", notifier.waiting())
            .put("sent", notifier.sent())
            .put("failures", notifier.failures())
            .put("merged", notifier.merged());
    put(json, "oldest_ms", notifier.oldestMillis());
    put(json, "last_sent_ms", notifier.lastSentMillis());
    put(json, "failing_since_ms", notifier.failingSinceMillis());
    if (!notifier.lastError().isEmpty()) {
      json.put("last_error", notifier.lastError());
    }
    return json.build();
  }

  private static void put(Json.Builder json, String name, long millis) {
    if (millis > 0) {
      json.put(name, millis);
    }
  }

  private CompletionStage<Json> test(ApiRequest request) {
    request.allowing().allowingInBody("author", "reason");
    return api.run(
            new Command.TestNotifier(
                request.part("notifier"), BodyFields.author(request), request.bodyText("reason")))
        .thenApply(
            error -> {
              Json.Builder answer = Json.object().put("sent", error.isEmpty());
              if (!error.isEmpty()) {
                answer.put("error", error);
              }
              return answer.build();
            });
  }
}
