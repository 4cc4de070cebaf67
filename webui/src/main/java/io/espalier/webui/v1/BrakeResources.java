package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.WindowView;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Resources for brakes: list, set, release. */
final class BrakeResources {
  private static final double MOST_SECONDS = 1e9;

  /** How many workers that have not confirmed a brake are named. */
  private static final int MOST_NAMED = 100;

  private final SchedulerApi api;

  BrakeResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.BRAKES, this::brakes));
    routes.add(new ApiRoute("POST", ApiV1.BRAKES, true, this::set));
    routes.add(new ApiRoute("POST", ApiV1.RELEASE_BRAKE, true, this::release));
  }

  private CompletionStage<Json> brakes(ApiRequest request) {
    request.allowing();
    return CompletableFuture.completedFuture(Json.object().put("brakes", list(api.view())).build());
  }

  /**
   * Adds the brakes and the windows, if there are any: who looks at something else shall see them,
   * too.
   */
  static void addTo(Json.Builder answer, SchedulerView view) {
    if (!view.brakes().isEmpty()) {
      answer.put("brakes", list(view));
    }
    if (!view.windows().isEmpty()) {
      answer.put(
          "windows", new Json.Arr(view.windows().stream().map(BrakeResources::json).toList()));
    }
  }

  private static Json json(WindowView window) {
    Json.Builder json = Json.object();
    putName(json, "queue", window.queue());
    putName(json, "job", window.job());
    putName(json, "level", window.level());
    if (window.nodes() > 0) {
      json.put("nodes", window.nodes());
    }
    json.put("open", window.open());
    if (window.changesMillis() > 0) {
      json.put("changes_at_ms", window.changesMillis());
    }
    return json.put("message", window.message()).build();
  }

  private static void putName(Json.Builder json, String key, String name) {
    if (!name.isEmpty()) {
      json.put(key, name);
    }
  }

  private static Json.Arr list(SchedulerView view) {
    List<Json> brakes = new ArrayList<>();
    view.brakes().forEach(brake -> brakes.add(json(brake).build()));
    return new Json.Arr(brakes);
  }

  private CompletionStage<Json> set(ApiRequest request) {
    BodyFields.allowBrake(request);
    double factor = request.body().get("factor") == null ? 0 : request.bodyNumber("factor", 0, 1);
    int millionths = (int) Math.round(factor * Brake.ONE);
    if (millionths == Brake.ONE) {
      throw ApiException.badRequest(
          "\"factor\" must be below 1: a brake of 1 slows nothing down; release it instead");
    }
    Brake brake =
        Brake.of(key(request), millionths)
            .ramp(ramp(request))
            .author(BodyFields.author(request))
            .reason(request.bodyText("reason"))
            .throttlesRunning(BodyFields.flag(request.body(), "throttle_running"))
            .build();
    return api.run(new Command.SetBrake(brake, BodyFields.expiresInMillis(request)))
        .thenApply(view -> json(view).put("durable", view.durable()).build());
  }

  private CompletionStage<Json> release(ApiRequest request) {
    request
        .allowing()
        .allowingInBody("node", "level", "queue", "set", "job", "ramp", "author", "reason");
    return api.run(
            new Command.ReleaseBrake(
                key(request),
                ramp(request),
                BodyFields.author(request),
                request.bodyText("reason")))
        .thenApply(view -> json(view).put("released", view.millionths() == Brake.ONE).build());
  }

  private static Brake.Key key(ApiRequest request) {
    List<Brake.Key> named = new ArrayList<>();
    for (Target target : Target.values()) {
      String name = target == Target.ALL ? "" : request.bodyText(target.word());
      if (!name.isEmpty()) {
        named.add(
            new Brake.Key(target, target == Target.NODE ? request.bodyText("level") : "", name));
      }
    }
    if (named.size() > 1) {
      throw ApiException.badRequest("a brake has one of \"node\", \"queue\", \"set\" and \"job\"");
    }
    if (!request.bodyText("level").isEmpty()
        && (named.isEmpty() || named.get(0).target() != Target.NODE)) {
      throw ApiException.badRequest("\"level\" needs a \"node\"");
    }
    return named.isEmpty() ? Brake.Key.all() : named.get(0);
  }

  private static Brake.@Nullable Ramp ramp(ApiRequest request) {
    Json value = request.body().get("ramp");
    if (value == null) {
      return null;
    }
    if (value instanceof Json.Obj ramp
        && ramp.members().keySet().equals(Set.of("step", "every_seconds"))
        && ramp.get("step") instanceof Json.Num step
        && ramp.get("every_seconds") instanceof Json.Num every) {
      int millionths = (int) Math.round(step.value().doubleValue() * Brake.ONE);
      long millis = Math.round(every.value().doubleValue() * 1000);
      if (millionths > 0
          && millionths <= Brake.ONE
          && millis > 0
          && millis <= MOST_SECONDS * 1000) {
        return new Brake.Ramp(millionths, millis);
      }
    }
    throw ApiException.badRequest(
        "\"ramp\" must be {\"step\": above 0 to 1, \"every_seconds\": above 0}, not " + value);
  }

  private static Json.Builder json(BrakeView view) {
    Brake brake = view.brake();
    Json.Builder json = Json.object();
    if (!brake.key().level().isEmpty()) {
      json.put("level", brake.key().level());
    }
    if (brake.key().target() != Target.ALL) {
      json.put(brake.key().target().word(), brake.key().name());
    }
    json.put("target", brake.key().target().word())
        .put("words", brake.key().toString())
        .put("message", view.message())
        .put("factor", Brake.decimal(view.millionths()).doubleValue());
    if (brake.throttlesRunning()) {
      json.put("throttle_running", true);
    }
    if (brake.untilMillis() > 0) {
      json.put("expires_at_ms", brake.untilMillis());
    }
    if (brake.releasedMillis() > 0) {
      json.put("released_at_ms", brake.releasedMillis());
    }
    Brake.Ramp ramp = brake.ramp();
    if (ramp != null) {
      json.put(
          "ramp",
          Json.object()
              .put("step", Brake.decimal(ramp.millionths()).doubleValue())
              .put("every_seconds", ramp.millis() / 1000.0)
              .build());
    }
    json.put("author", brake.author())
        .put("reason", brake.reason())
        .put("set_at_ms", brake.sinceMillis());
    if (!view.unconfirmed().isEmpty()) {
      json.put("unconfirmed", view.unconfirmed().size())
          .put(
              "unconfirmed_workers",
              Json.strings(view.unconfirmed().stream().limit(MOST_NAMED).toList()));
    }
    return json;
  }
}
