package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.action.FleetActions;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.v1.BodyFields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Resources for commands to all schedulers, or to those of a job. A preview returns the targets in
 * advance, and the result lists the outcome on each of them, including those that cannot be
 * reached.
 */
final class ActionResources {
  static final String ACTION = "/api/v1/fleet/jobs/{job}/{action}";
  static final String ACTIONS = "/api/v1/fleet/actions";
  static final String RUN = "/api/v1/fleet/actions/{id}";

  private static final Duration WITHIN = Duration.ofSeconds(5);

  /** Members of the body that are passed on to the schedulers, by action. */
  private static final Map<String, Set<String>> PASSED_ON =
      Map.of(
          "pause", Set.of("reason", "expires_in_seconds"),
          "resume", Set.of("reason"),
          "stop", Set.of("reason"),
          "forgive", Set.of("reason", "selector", "preview"),
          "rerun", Set.of("reason", "selector", "preview"),
          "cancel", Set.of("reason", "selector", "preview"));

  private static final Set<String> OURS = Set.of("hosts", "kind", "preview", "expect_hosts");

  private final Fleet fleet;

  ActionResources(Fleet fleet) {
    this.fleet = fleet;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(new ApiRoute("POST", ACTION, true, this::act));
    routes.add(new ApiRoute("POST", ApiV1.BRAKES, true, request -> brake(request, "brake")));
    routes.add(
        new ApiRoute("POST", ApiV1.RELEASE_BRAKE, true, request -> brake(request, "release")));
    routes.add(new ApiRoute("GET", ACTIONS, false, this::runs));
    routes.add(new ApiRoute("GET", RUN, false, this::run));
  }

  private CompletionStage<Json> act(ApiRequest request) {
    String action = request.allowing().part("action");
    Set<String> passed = PASSED_ON.get(action);
    if (passed == null) {
      throw ApiException.notFound(
          "there is no action \""
              + action
              + "\"; there are "
              + String.join(", ", new TreeSet<>(PASSED_ON.keySet())));
    }
    Set<String> allowed = new TreeSet<>(passed);
    allowed.addAll(OURS);
    request.allowingInBody(allowed.toArray(new String[0]));
    request.bodyText("reason");
    String kind = request.bodyText("kind");
    boolean preview = truth(request, "preview");
    Meant meant = meant(request, kind);
    Json expected = request.body().get("expect_hosts");
    if (expected != null && !expected.equals(Json.of(meant.hosts().size()))) {
      throw new ApiException(
          409,
          "meant are "
              + meant.hosts().size()
              + " schedulers, not "
              + expected
              + "; nothing was changed");
    }
    Json.Obj body = request.body();
    for (String ours : OURS) {
      if (!passed.contains(ours)) {
        body = body.without(ours);
      }
    }
    // The schedulers support previews of selected tasks themselves, so they are queried.
    boolean theirs = passed.contains("selector") && body.get("selector") != null;
    if (preview && !theirs) {
      return CompletableFuture.completedFuture(
          meant
              .into(Json.object().put("job", request.part("job")).put("action", action))
              .put("preview", true)
              .put("meant", meant.hosts().size())
              .put("hosts", names(meant.hosts()))
              .build());
    }
    if (!theirs) {
      body = body.without("preview");
    }
    return fleet
        .actions()
        .tell(request.part("job"), action, preview, body, meant.hosts(), WITHIN)
        .thenApply(run -> meant.into(run.json()).build());
  }

  /** Sets or releases a brake on all schedulers of the list; each of them judges the request. */
  private CompletionStage<Json> brake(ApiRequest request, String action) {
    BodyFields.allowBrake(request);
    FleetView view = fleet.view();
    Map<String, String> same = view.sameProcess();
    List<FleetSchedulerView> hosts =
        view.hosts().stream().filter(host -> !same.containsKey(host.id())).toList();
    if (hosts.isEmpty()) {
      throw ApiException.notFound("the list has no scheduler");
    }
    String path = action.equals("brake") ? ApiV1.BRAKES : ApiV1.RELEASE_BRAKE;
    return fleet
        .actions()
        .tell(action, path, request.body(), hosts, WITHIN)
        .thenApply(run -> run.json().build());
  }

  private CompletionStage<Json> runs(ApiRequest request) {
    request.allowing();
    List<Json> list = new ArrayList<>();
    fleet.actions().runs().forEach(run -> list.add(run.json().build().without("hosts")));
    return CompletableFuture.completedFuture(
        Json.object().put("actions", new Json.Arr(list)).build());
  }

  private CompletionStage<Json> run(ApiRequest request) {
    request.allowing();
    FleetActions.Run run = fleet.actions().run(request.part("id"));
    if (run == null) {
      throw ApiException.notFound("no such action is remembered");
    }
    return CompletableFuture.completedFuture(run.json().build());
  }

  /**
   * The targets of a command.
   *
   * @param hosts the schedulers that have the job or may have it
   * @param unknown how many of them only may have it
   * @param without how many schedulers do not have the job
   */
  private record Meant(List<FleetSchedulerView> hosts, int unknown, int without) {
    Json.Builder into(Json.Builder json) {
      return json.put("unknown_whether_they_have_it", unknown).put("without_job", without);
    }
  }

  private Meant meant(ApiRequest request, String kind) {
    String job = request.part("job");
    Set<String> ids = ids(request);
    FleetView view = fleet.view();
    Map<String, String> same = view.sameProcess();
    List<FleetSchedulerView> hosts = new ArrayList<>();
    int unknown = 0;
    int without = 0;
    boolean all = ids.isEmpty();
    for (FleetSchedulerView host : view.hosts()) {
      if (all ? same.containsKey(host.id()) : !ids.remove(host.id())) {
        continue;
      }
      SchedulerSummary summary = host.summary();
      if (!kind.isEmpty() && !FleetResources.isOfKind(host, job, kind)) {
        without++;
      } else if (summary == null || summary.cut()) {
        hosts.add(host);
        unknown++;
      } else if (summary.jobs().stream().anyMatch(known -> known.name().equals(job))) {
        hosts.add(host);
      } else {
        without++;
      }
    }
    if (!ids.isEmpty()) {
      throw ApiException.notFound(
          "not in the list: " + String.join(", ", ids) + "; nothing was changed");
    }
    if (hosts.isEmpty()) {
      throw ApiException.notFound("no scheduler has a job \"" + job + "\"");
    }
    if (all && hosts.size() == unknown) {
      throw ApiException.notFound("no scheduler that has answered has a job \"" + job + "\"");
    }
    return new Meant(List.copyOf(hosts), unknown, without);
  }

  /** Returns the selected ids; empty: all. */
  private static Set<String> ids(ApiRequest request) {
    Json given = request.body().get("hosts");
    Set<String> ids = new LinkedHashSet<>();
    if (given == null) {
      return ids;
    }
    if (!(given instanceof Json.Arr list) || list.items().isEmpty()) {
      throw ApiException.badRequest("\"hosts\" must be a list of ids of schedulers; none: all");
    }
    for (Json id : list.items()) {
      if (!(id instanceof Json.Str s)) {
        throw ApiException.badRequest("\"hosts\" must be a list of ids of schedulers");
      }
      ids.add(s.value());
    }
    return ids;
  }

  private static boolean truth(ApiRequest request, String name) {
    Json value = request.body().get(name);
    if (value == null) {
      return false;
    }
    if (value instanceof Json.Bool bool) {
      return bool.value();
    }
    throw ApiException.badRequest("\"" + name + "\" must be true or false");
  }

  private static Json names(List<FleetSchedulerView> hosts) {
    List<Json> list = new ArrayList<>();
    hosts.forEach(
        host ->
            list.add(
                Json.object().put("host", host.id()).put("state", host.state().word()).build()));
    return new Json.Arr(list);
  }
}
