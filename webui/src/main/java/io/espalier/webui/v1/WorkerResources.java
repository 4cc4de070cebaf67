package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.json.Json;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerCordon.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Resources for workers: list, drain, cordon, uncordon. */
final class WorkerResources {
  private static final int MAX_PAGE = 1_000;

  private final SchedulerApi api;
  private final ServerIdentity identity;

  WorkerResources(SchedulerApi api, ServerIdentity identity) {
    this.api = api;
    this.identity = identity;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.WORKERS, this::workers));
    routes.add(ApiRoute.post(ApiV1.DRAIN, request -> cordon(request, Kind.DRAIN)));
    routes.add(ApiRoute.post(ApiV1.CORDON, request -> cordon(request, Kind.CORDON)));
    routes.add(ApiRoute.post(ApiV1.UNCORDON, this::uncordon));
  }

  private CompletionStage<Json> workers(ApiRequest request) {
    request.allowing("state", "after", "limit");
    List<String> states = request.words("state");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    return api.ask(new Query.Workers())
        .thenApply(
            found -> {
              ListRequest.Page<WorkerView> page =
                  list.page(
                      found.stream()
                          .filter(worker -> ListRequest.fits(states, worker.state()))
                          .toList(),
                      WorkerResources::cursor);
              List<Json> workers = new ArrayList<>();
              page.items().forEach(worker -> workers.add(worker(worker)));
              return page.addTo(Json.object().put("workers", new Json.Arr(workers)), list).build();
            });
  }

  /** A shard may be there twice: its process of before, which is lost, and a new one. */
  private static String cursor(WorkerView worker) {
    return worker.ref().shard() + " " + worker.ref().instance();
  }

  private CompletionStage<Json> cordon(ApiRequest request, Kind kind) {
    String worker = request.allowing().allowingInBody("reason").part("worker");
    return api.run(
            new Command.Cordon(
                worker, kind, request.caller().author(""), request.bodyText("reason")))
        .thenApply(this::worker);
  }

  private CompletionStage<Json> uncordon(ApiRequest request) {
    String worker = request.allowing().allowingInBody("reason").part("worker");
    return api.run(
            new Command.Uncordon(worker, request.caller().author(""), request.bodyText("reason")))
        .thenApply(this::worker);
  }

  private Json worker(WorkerView worker) {
    Json.Builder slots = Json.object();
    for (WorkerView.Slots of : worker.slots()) {
      slots.put(
          of.resource(), Json.object().put("used", of.used()).put("limit", of.limit()).build());
    }
    Json.Builder labels = Json.object();
    new TreeMap<>(worker.labels()).forEach(labels::put);
    WorkerCordon cordon = worker.cordon();
    return Json.object()
        .put("shard", worker.ref().shard())
        // Too large for a number in JavaScript.
        .put("instance", Long.toString(worker.ref().instance()))
        .put("kind", identity.runner())
        .put("host", worker.host())
        .put("address", worker.address())
        .put("labels", labels.build())
        .put("state", worker.state())
        .put("takes_tasks", worker.takesTasks())
        .putIfPresent("hold", cordon == null ? null : cordon(cordon))
        .put("running", worker.tasks())
        .put("max_tasks", worker.maxTasks())
        .put("slots", slots.build())
        .put("since_ms", worker.sinceMillis())
        .put("last_seen_ms", worker.lastSeenMillis())
        .put("note", worker.note())
        .putIfPresent("measured", measured(worker))
        .build();
  }

  /**
   * Returns what the worker has measured, without what it does not know; null: it has told none.
   */
  private static Json.@Nullable Obj measured(WorkerView worker) {
    if (worker.measuredMillis() == 0) {
      return null;
    }
    Json.Builder measured = Json.object().put("at_ms", worker.measuredMillis());
    putThousandths(measured, "cpu_use", worker.load().cpu());
    putThousandths(measured, "memory_use", worker.load().memory());
    putThousandths(measured, "load_1min", worker.figures().load());
    HostFigures.Space memory = worker.figures().memory();
    if (memory.isKnown()) {
      measured
          .put("memory_total_bytes", memory.totalBytes())
          .put("memory_available_bytes", memory.freeBytes());
    }
    HostFigures.Space disk = worker.figures().disk();
    if (disk.isKnown()) {
      measured.put("disk_total_bytes", disk.totalBytes()).put("disk_free_bytes", disk.freeBytes());
    }
    return measured.build();
  }

  private static void putThousandths(Json.Builder to, String name, int value) {
    if (value >= 0) {
      to.put(name, value / 1e3);
    }
  }

  private static Json.Obj cordon(WorkerCordon cordon) {
    return Json.object()
        .put("kind", cordon.kind().name().toLowerCase(Locale.ROOT))
        .put("operator", cordon.operator())
        .put("reason", cordon.reason())
        .put("since_ms", cordon.sinceMillis())
        .build();
  }
}
