package io.espalier.webui.v1;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Resources for queues: their usage and their entitlement. */
final class QueueResources {
  private static final int MAX_PAGE = 1_000;

  private final SchedulerApi api;

  QueueResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.QUEUES, this::queues));
  }

  private CompletionStage<Json> queues(ApiRequest request) {
    request.allowing("name", "after", "limit");
    List<String> names = request.all("name");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    return api.ask(new Query.Queues())
        .thenApply(
            found -> {
              ListRequest.Page<QueueView> page =
                  list.page(
                      found.stream()
                          .filter(queue -> ListRequest.fits(names, queue.name()))
                          .toList(),
                      QueueView::name);
              List<Json> queues = new ArrayList<>();
              page.items().forEach(queue -> queues.add(json(queue)));
              Json.Builder body = Json.object();
              Config config = api.view().config();
              if (config != null) {
                body.put("policy", config.settings().policy());
                body.put(
                    "half_life_sec",
                    config.settings().rules().priorityHalfLife().toMillis() / 1000.0);
              }
              return page.addTo(body.put("queues", new Json.Arr(queues)), list).build();
            });
  }

  private static Json json(QueueView queue) {
    Json.Builder resources = Json.object();
    for (QueueView.Held held : queue.resources()) {
      Json.Builder slots = Json.object().put("held", held.held());
      if (held.cap() >= 0) {
        slots.put("cap", held.cap());
      }
      resources.put(held.resource(), slots.put("total", held.total()).build());
    }
    Json.Builder json =
        Json.object().put("name", queue.name()).put("priority_factor", queue.priorityFactor());
    queue.weight().ifPresent(weight -> json.put("weight", weight));
    return json.put("running", queue.running())
        .put("jobs", queue.jobs())
        .put("waiting_jobs", queue.waitingJobs())
        .put("waiting_tasks", queue.waitingTasks())
        .put("use", queue.use())
        .put("current_priority", queue.currentPriority())
        .put("effective_priority", queue.effectivePriority())
        .put("share", queue.share())
        .put("resources", resources.build())
        .build();
  }
}
