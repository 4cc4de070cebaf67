package io.espalier.webui.v1;

import io.espalier.core.api.JobVersions;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.JobVersion;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Changing jobs: save, delete, history, back to an earlier version. */
final class JobVersionResources {
  private final SchedulerApi api;

  JobVersionResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.admin("PUT", ApiV1.JOB, this::save));
    routes.add(ApiRoute.admin("DELETE", ApiV1.JOB, this::delete));
    routes.add(ApiRoute.get(ApiV1.HISTORY, this::history));
    routes.add(ApiRoute.admin("POST", ApiV1.ROLLBACK, this::rollBack));
  }

  private CompletionStage<Json> save(ApiRequest request) {
    request.allowing("version", "author", "reason");
    if (request.body().isEmpty()) {
      throw ApiFailure.badRequest("the body must be the job, an object with at least its owner");
    }
    return api.jobVersions()
        .save(
            request.part("job"),
            request.body(),
            version(request),
            request.caller().author(request.text("author")),
            request.text("reason"))
        .thenApply(JobVersionResources::json);
  }

  private CompletionStage<Json> delete(ApiRequest request) {
    request.allowing("version", "author", "reason").allowingInBody();
    return api.jobVersions()
        .delete(
            request.part("job"),
            version(request),
            request.caller().author(request.text("author")),
            request.text("reason"))
        .thenApply(JobVersionResources::json);
  }

  private CompletionStage<Json> rollBack(ApiRequest request) {
    request.allowing().allowingInBody("version", "author", "reason");
    if (!(request.body().get("version") instanceof Json.Num number)
        || number.value().signum() <= 0
        || number.value().stripTrailingZeros().scale() > 0
        || number.value().precision() > 18) {
      throw ApiFailure.badRequest("\"version\" must be the number of a version in the history");
    }
    return api.jobVersions()
        .rollBack(
            request.part("job"),
            number.value().longValueExact(),
            request.caller().author(request.bodyText("author")),
            request.bodyText("reason"))
        .thenApply(JobVersionResources::json);
  }

  private CompletionStage<Json> history(ApiRequest request) {
    request.allowing();
    return api.jobVersions()
        .history(request.part("job"))
        .thenApply(
            versions -> {
              List<Json> list = new ArrayList<>();
              versions.forEach(version -> list.add(json(version)));
              return Json.object()
                  .put("job", request.part("job"))
                  .put("versions", new Json.Arr(list))
                  .build();
            });
  }

  private static long version(ApiRequest request) {
    return request.integer("version", JobVersions.ANY, 0, Long.MAX_VALUE);
  }

  private static Json.Obj json(JobVersion version) {
    return Json.object()
        .put("job", version.name())
        .put("version", version.version())
        .put("at_ms", version.atMillis())
        .put("author", version.author())
        .put("reason", version.reason())
        .put("deleted", version.job() == null)
        .putIfPresent("config", version.job())
        .build();
  }
}
