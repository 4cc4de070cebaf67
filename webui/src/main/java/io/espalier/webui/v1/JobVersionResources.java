package io.espalier.webui.v1;

import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Causes;
import io.espalier.core.problem.Problem;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.SecretMask;
import io.espalier.webui.v1.json.ApiJson;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Resources for changing jobs: save, delete, history, roll back. */
final class JobVersionResources {
  /** The maximum number of problems in the answer to one validation. */
  private static final int MOST_PROBLEMS = 1_000;

  private static final int MAX_PAGE = 1_000;

  private final SchedulerApi api;

  JobVersionResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.admin("PUT", ApiV1.JOB, this::save).tagged(JobVersionResources::tag));
    routes.add(ApiRoute.admin("DELETE", ApiV1.JOB, this::delete).tagged(JobVersionResources::tag));
    routes.add(new ApiRoute("POST", ApiV1.VALIDATE, false, this::validate));
    routes.add(ApiRoute.get(ApiV1.HISTORY, this::history));
    routes.add(ApiRoute.admin("POST", ApiV1.ROLLBACK, this::rollBack));
  }

  /** Returns the entity tag of any object with a {@code version}. */
  static String tag(Json answer) {
    return answer instanceof Json.Obj object && object.get("version") instanceof Json.Num version
        ? JsonWriter.compact(version)
        : "";
  }

  private CompletionStage<Json> validate(ApiRequest request) {
    request.allowing();
    return api.jobVersions()
        .check(request.part("job"), request.body())
        .thenApply(
            check -> {
              Json.Obj effective = check.effective();
              List<Json> problems = new ArrayList<>();
              shown(check.problems()).forEach(problem -> problems.add(ApiJson.problem(problem)));
              return Json.object()
                  .put("valid", check.isValid())
                  .put("problems", new Json.Arr(problems))
                  .putIfPresent(
                      "effective",
                      effective == null ? null : SecretMask.job(effective, request.caller()))
                  .build();
            });
  }

  /** Returns the problems to show; errors come first when there are too many for one answer. */
  private static List<Problem> shown(List<Problem> problems) {
    if (problems.size() <= MOST_PROBLEMS) {
      return problems;
    }
    List<Problem> shown = new ArrayList<>();
    problems.stream().filter(Problem::isError).limit(MOST_PROBLEMS).forEach(shown::add);
    problems.stream()
        .filter(problem -> !problem.isError())
        .limit(MOST_PROBLEMS - shown.size())
        .forEach(shown::add);
    int more = problems.size() - MOST_PROBLEMS;
    boolean isError = problems.stream().filter(Problem::isError).count() > MOST_PROBLEMS;
    String message = "and " + more + " more problems";
    shown.add(isError ? Problem.error("", message) : Problem.warning("", message));
    return shown;
  }

  private CompletionStage<Json> save(ApiRequest request) {
    request.allowing("version", "author", "reason");
    if (request.body().isEmpty()) {
      throw ApiException.badRequest("the body must be the job, an object with at least its owner");
    }
    return api.jobVersions()
        .save(
            request.part("job"),
            request.body(),
            version(request),
            request.caller().author(request.text("author")),
            request.text("reason"))
        .handle((saved, failure) -> outcome(request, saved, failure));
  }

  private CompletionStage<Json> delete(ApiRequest request) {
    request.allowing("version", "author", "reason").allowingInBody();
    return api.jobVersions()
        .delete(
            request.part("job"),
            version(request),
            request.caller().author(request.text("author")),
            request.text("reason"))
        .handle((deleted, failure) -> outcome(request, deleted, failure));
  }

  private CompletionStage<Json> rollBack(ApiRequest request) {
    request.allowing().allowingInBody("version", "author", "reason");
    if (!(request.body().get("version") instanceof Json.Num number)
        || number.value().signum() < 0
        || number.value().stripTrailingZeros().scale() > 0
        || number.value().precision() > 18) {
      throw ApiException.badRequest("\"version\" must be the number of a version in the history");
    }
    return api.jobVersions()
        .rollBack(
            request.part("job"),
            number.value().longValueExact(),
            request.caller().author(request.bodyText("author")),
            request.bodyText("reason"))
        .thenApply(version -> json(version, request.caller()));
  }

  private CompletionStage<Json> history(ApiRequest request) {
    request.allowing("order", "after", "limit");
    boolean newestFirst = request.choice("order", "asc", List.of("asc", "desc")).equals("desc");
    ListRequest list = ListRequest.of(request, MAX_PAGE, MAX_PAGE);
    return api.jobVersions()
        .history(request.part("job"))
        .thenApply(
            found -> {
              List<JobVersion> all = new ArrayList<>(found);
              if (newestFirst) {
                Collections.reverse(all);
              }
              ListRequest.Page<JobVersion> page =
                  list.page(all, version -> cursor(version, newestFirst));
              List<Json> versions = new ArrayList<>();
              page.items().forEach(version -> versions.add(json(version, request.caller())));
              return page.addTo(
                      Json.object()
                          .put("job", request.part("job"))
                          .put("versions", new Json.Arr(versions)),
                      list)
                  .build();
            });
  }

  /** Cursors are compared as texts, so all have the same length. */
  private static String cursor(JobVersion version, boolean newestFirst) {
    return String.format(
        Locale.ROOT, "%019d", newestFirst ? Long.MAX_VALUE - version.version() : version.version());
  }

  /**
   * Returns the answer to a change. A version conflict is a failed precondition if the request had
   * one.
   */
  private static Json outcome(
      ApiRequest request, @Nullable JobVersion version, @Nullable Throwable failure) {
    if (version != null) {
      return json(version, request.caller());
    }
    Throwable cause = failure == null ? new IllegalStateException() : Causes.of(failure);
    if (cause instanceof RefusedException refused
        && refused.reason() == RefusedException.Reason.STALE
        && isConditional(request)) {
      throw new ApiException(412, String.valueOf(refused.getMessage()));
    }
    throw ApiException.of(cause);
  }

  private static boolean isConditional(ApiRequest request) {
    return !request.header("if-match").isEmpty() || !request.header("if-none-match").isEmpty();
  }

  /**
   * Returns the expected version of the parameter or the headers, which must not contradict each
   * other.
   */
  private static long version(ApiRequest request) {
    long given = request.integer("version", JobVersions.ANY, 0, Long.MAX_VALUE);
    long expected = given;
    for (long other : new long[] {ifMatch(request), ifNew(request)}) {
      if (other != JobVersions.ANY && expected != JobVersions.ANY && other != expected) {
        throw ApiException.badRequest(
            "version, If-Match and If-None-Match contradict each other; give one of them");
      }
      expected = other == JobVersions.ANY ? expected : other;
    }
    return expected;
  }

  private static long ifNew(ApiRequest request) {
    return request.header("if-none-match").isEmpty() ? JobVersions.ANY : JobVersions.NEW;
  }

  /** Returns the version in {@code If-Match}; the contract has checked its format. */
  private static long ifMatch(ApiRequest request) {
    String tag = request.header("if-match");
    if (tag.isEmpty()) {
      return JobVersions.ANY;
    }
    return tag.equals("*")
        ? JobVersions.EXISTING
        : Long.parseLong(tag.substring(1, tag.length() - 1));
  }

  private static Json.Obj json(JobVersion version, Principal caller) {
    Json.Obj job = version.job();
    Json.Obj summary = summary(version);
    return job == null ? summary : summary.with("config", SecretMask.job(job, caller));
  }

  /** Returns a version without the job. */
  static Json.Obj summary(JobVersion version) {
    return Json.object()
        .put("job", version.name())
        .put("version", version.version())
        .put("at_ms", version.atMillis())
        .put("author", version.author())
        .put("reason", version.reason())
        .put("deleted", version.job() == null)
        .build();
  }
}
