package io.espalier.webui.v1;

import io.espalier.core.api.AppliedPlan;
import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.api.plan.ConfigPlan.Difference;
import io.espalier.core.api.plan.ConfigPlan.JobChange;
import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.json.Json;
import io.espalier.core.json.Secrets;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.json.ApiJson;
import io.espalier.webui.v1.json.QueryJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Resources for configurations as a whole: plan, apply. */
final class PlanResources {
  /** The maximum number of entries of a list in an answer. */
  private static final int MOST = 1_000;

  private static final Set<String> CONSENTS = Set.of("kills", "new", "nodes", "uncounted");

  private final SchedulerApi api;

  PlanResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(new ApiRoute("POST", ApiV1.PLANS, false, this::plan));
    routes.add(ApiRoute.admin("POST", ApiV1.APPLY, this::apply));
  }

  private CompletionStage<Json> plan(ApiRequest request) {
    request.allowing("assume_ms").allowingInBody("config", "prune");
    return api.jobVersions()
        .plan(
            change(request),
            request.caller().role().covers(Role.ADMIN),
            request.integer("assume_ms", 0, 1, QueryResources.MOST_MILLIS))
        .thenApply(plan -> json(plan, request.caller()).build());
  }

  private CompletionStage<Json> apply(ApiRequest request) {
    request.allowing().allowingInBody("config", "prune", "plan", "consent", "author", "reason");
    return api.jobVersions()
        .apply(
            change(request),
            request.bodyText("plan"),
            consents(request),
            BodyFields.author(request),
            request.bodyText("reason"))
        .thenApply(applied -> json(applied, request.caller()));
  }

  private ConfigChange change(ApiRequest request) {
    if (api.view().config() == null) {
      throw new ApiException(503, api.view().whyNoConfig() + "; see " + ApiV1.PROBLEMS);
    }
    if (!(request.body().get("config") instanceof Json.Obj config)) {
      throw ApiException.badRequest(
          "\"config\" must be an object with \"bistro_settings\" or \"bistro_job->NAME\"");
    }
    if (config.members().keySet().stream().noneMatch(key -> key.startsWith("bistro_"))) {
      throw ApiException.badRequest(
          "\"config\" has neither \"bistro_settings\" nor a \"bistro_job->NAME\"");
    }
    return new ConfigChange(config, Json.Bool.TRUE.equals(request.body().get("prune")));
  }

  private static Map<String, Long> consents(ApiRequest request) {
    Map<String, Long> consents = new TreeMap<>();
    if (request.body().get("consent") instanceof Json.Obj given) {
      given
          .members()
          .forEach(
              (key, value) -> {
                if (!CONSENTS.contains(key)) {
                  throw ApiException.badRequest(
                      "\""
                          + key
                          + "\" cannot be consented to: there are kills, new, nodes and"
                          + " uncounted");
                }
                if (!(value instanceof Json.Num number)
                    || number.value().signum() < 0
                    || number.value().stripTrailingZeros().scale() > 0
                    || number.value().precision() > 18) {
                  throw ApiException.badRequest(
                      "the consent to \"" + key + "\" must be a whole number, at least 0");
                }
                consents.put(key, number.value().longValueExact());
              });
    }
    return consents;
  }

  private static Json json(AppliedPlan applied, Principal caller) {
    return Json.object()
        .put("jobs", list(applied.jobs(), JobVersionResources::summary))
        .put("settings", applied.settings())
        .put("applied", json(applied.plan(), caller).build().without("token").without("until_ms"))
        .build();
  }

  private static Json.Builder json(ConfigPlan plan, Principal caller) {
    boolean isAdmin = caller.role().covers(Role.ADMIN);
    Json.Builder consents = Json.object();
    plan.consents().forEach(consents::put);
    Json.Builder json =
        Json.object()
            .put("version", plan.version())
            .put("valid", plan.isValid())
            .put("problems", list(plan.problems(), ApiJson::problem))
            .put("settings", list(plan.settings(), each -> json(each, isAdmin)))
            .put("jobs", list(plan.jobs(), PlanResources::json))
            .put("consent", consents.build());
    UpdateImpact impact = plan.impact();
    if (impact == null) {
      json.put("uncounted", plan.uncounted());
    } else {
      json.put("impact", json(impact));
    }
    if (plan.forecast() != null) {
      json.put("forecast", json(plan.forecast()));
    }
    if (!plan.token().isEmpty()) {
      json.put("token", plan.token()).put("until_ms", plan.untilMillis());
    }
    return json;
  }

  private static Json json(UpdateImpact impact) {
    return Json.object()
        .put("nodes_before", impact.nodesBefore())
        .put("nodes_added", impact.nodesAdded())
        .put("nodes_removed", impact.nodesRemoved())
        .put("tasks_added", impact.added())
        .put("tasks_removed", impact.removed())
        .put("running", impact.running())
        .put("kills", impact.kills())
        .put("jobs", list(impact.jobs(), PlanResources::json))
        .put("orphans", impact.orphanCount())
        .put("orphan_kills", impact.orphanKills())
        .put("orphan_tasks", list(impact.orphans(), PlanResources::json))
        .put("over_limit", impact.overLimitCount())
        .put("over_limit_kills", impact.overLimitKills())
        .put("over_limit_nodes", list(impact.overLimits(), PlanResources::json))
        .put("never", list(impact.never(), ApiJson::problem))
        .build();
  }

  private static Json json(PlanForecast forecast) {
    return Json.object()
        .put("peaks", list(forecast.peaks(), PlanResources::json))
        .put("ends", list(forecast.ends(), PlanResources::json))
        .put("more_jobs", forecast.moreJobs())
        .build();
  }

  private static Json json(PlanForecast.Peak peak) {
    return Json.object()
        .put("level", peak.level())
        .put("resource", peak.resource())
        .putIfPresent("now", peak.now() == null ? null : json(peak.now()))
        .putIfPresent("then", peak.then() == null ? null : json(peak.then()))
        .build();
  }

  private static Json json(PlanForecast.Use use) {
    return Json.object().put("used", use.used()).put("slots", use.slots()).build();
  }

  private static Json json(PlanForecast.End end) {
    return Json.object()
        .put("job", end.job())
        .putIfPresent("now", end.now() == null ? null : QueryJson.eta(end.now()))
        .putIfPresent("then", end.then() == null ? null : QueryJson.eta(end.then()))
        .build();
  }

  private static Json json(UpdateImpact.OfJob job) {
    return Json.object()
        .put("job", job.job())
        .put("level", job.level())
        .put("before", job.before())
        .put("after", job.after())
        .put("added", job.added())
        .put("removed", job.removed())
        .put("statuses_left", job.statusesLeft())
        .put("orphans", job.orphans())
        .build();
  }

  private static Json json(UpdateImpact.Orphan orphan) {
    Json.Builder json = Json.object().put("job", orphan.job()).put("node", orphan.node());
    return killed(json, orphan.killAfterMillis());
  }

  private static Json json(UpdateImpact.OverLimit over) {
    Json.Builder json =
        Json.object()
            .put("level", over.level())
            .put("node", over.node())
            .put("resource", over.resource())
            .put("used", over.used())
            .put("limit", over.limit())
            .put("over_by", over.used() - over.limit());
    return killed(json, over.killAfterMillis());
  }

  private static Json killed(Json.Builder json, long afterMillis) {
    return afterMillis < 0
        ? json.build()
        : json.put("killed_after_seconds", afterMillis / 1000.0).build();
  }

  private static Json json(JobChange change) {
    Json.Builder json =
        Json.object()
            .put("job", change.job())
            .put("change", change.kind().name().toLowerCase(Locale.ROOT))
            .put("keys", Json.strings(change.keys()));
    return change.renamedFrom().isEmpty()
        ? json.build()
        : json.put("renamed_from", change.renamedFrom()).build();
  }

  /** Values of settings may be secrets that no mask knows, such as a URL: only admins see them. */
  private static Json json(Difference difference, boolean isAdmin) {
    Json.Builder json = Json.object().put("path", String.join(".", difference.path()));
    if (!isAdmin) {
      return json.build();
    }
    return json.putIfPresent("before", masked(difference.path(), difference.before()))
        .putIfPresent("after", masked(difference.path(), difference.after()))
        .build();
  }

  /** Masks a value as it is masked in its place. */
  private static @Nullable Json masked(List<String> path, @Nullable Json value) {
    if (value == null) {
      return null;
    }
    Json nested = value;
    for (int i = path.size() - 1; i >= 0; i--) {
      nested = Json.object().put(path.get(i), nested).build();
    }
    nested = nested instanceof Json.Obj whole ? Secrets.hide(whole) : nested;
    for (int i = 0; i < path.size() && nested instanceof Json.Obj object; i++) {
      Json inner = object.get(path.get(i));
      nested = inner == null ? object : inner;
    }
    return nested;
  }

  private static <T> Json.Arr list(List<T> all, Function<T, ? extends Json> form) {
    List<Json> list = new ArrayList<>();
    all.stream().limit(MOST).forEach(each -> list.add(form.apply(each)));
    return new Json.Arr(list);
  }
}
