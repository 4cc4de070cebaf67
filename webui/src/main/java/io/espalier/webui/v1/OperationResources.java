package io.espalier.webui.v1;

import io.espalier.core.api.Command;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.json.Json;
import io.espalier.core.status.StatusLabel;
import io.espalier.webui.v1.json.RolloutJson;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Resources for the commands of operators on jobs and selected tasks. */
final class OperationResources {
  private static final long MOST_TASKS = 1L << 31;
  private static final Set<String> SELECTOR =
      Set.of("all", "statuses", "prefix", "nodes", "fingerprint");

  private final SchedulerApi api;

  OperationResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    add(routes, ApiV1.FORGIVE, this::forgive);
    add(routes, ApiV1.RERUN, this::rerun);
    add(routes, ApiV1.CANCEL, this::cancel);
    add(routes, ApiV1.KILL_TASKS, this::kill);
    add(routes, ApiV1.PAUSE, this::pause);
    add(routes, ApiV1.RESUME, this::resume);
    add(routes, ApiV1.HALT, this::halt);
    add(routes, ApiV1.PROMOTE, this::promote);
    add(routes, ApiV1.STOP, this::stop);
  }

  private static void add(List<ApiRoute> routes, String template, Operation operation) {
    routes.add(
        ApiRoute.post(template, request -> operation.on(request.allowing().part("job"), request)));
  }

  /** What can be done to a job. */
  interface Operation {
    /**
     * Does it.
     *
     * @param request its body says how
     */
    CompletionStage<Json> on(String job, ApiRequest request);
  }

  /** What can be done to one job and to each job of a set, by the last part of the path. */
  Map<String, Operation> operations() {
    return Map.of(
        "forgive", this::forgive,
        "rerun", this::rerun,
        "cancel", this::cancel,
        "kill", this::kill,
        "pause", this::pause,
        "resume", this::resume,
        "halt", this::halt,
        "promote", this::promote,
        "stop", this::stop);
  }

  private CompletionStage<Json> pause(String job, ApiRequest request) {
    request.allowingInBody("reason", "author", "expires_in_seconds");
    return api.run(
            new Command.Pause(
                job,
                BodyFields.expiresInMillis(request),
                BodyFields.author(request),
                request.bodyText("reason")))
        .thenApply(done -> Json.object().put("job", job).put("paused", true).build());
  }

  private CompletionStage<Json> resume(String job, ApiRequest request) {
    request.allowingInBody("reason", "author");
    return api.run(new Command.Resume(job, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(done -> Json.object().put("job", job).put("paused", false).build());
  }

  private CompletionStage<Json> halt(String job, ApiRequest request) {
    request.allowingInBody("reason", "author");
    return api.run(new Command.Halt(job, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(
            now -> Json.object().put("job", job).put("rollout", RolloutJson.of(now)).build());
  }

  private CompletionStage<Json> promote(String job, ApiRequest request) {
    request.allowingInBody("reason", "author");
    return api.run(new Command.Promote(job, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(
            now -> Json.object().put("job", job).put("rollout", RolloutJson.of(now)).build());
  }

  private CompletionStage<Json> stop(String job, ApiRequest request) {
    request.allowingInBody("reason", "author");
    return api.run(new Command.Stop(job, BodyFields.author(request), request.bodyText("reason")))
        .thenApply(
            signaled ->
                Json.object()
                    .put("job", job)
                    .put("paused", true)
                    .put("signaled", signaled)
                    .build());
  }

  private CompletionStage<Json> forgive(String job, ApiRequest request) {
    boolean chosen =
        Stream.of("selector", "preview", "expect").anyMatch(m -> request.body().get(m) != null);
    return api.run(new Command.Forgive(selection(job, request, false)))
        .thenApply(
            result ->
                chosen
                    ? json(result)
                    : Json.object()
                        .put("job", result.job())
                        .put("changed", result.changed())
                        .build());
  }

  private CompletionStage<Json> rerun(String job, ApiRequest request) {
    return api.run(new Command.Rerun(selection(job, request, true)))
        .thenApply(OperationResources::json);
  }

  private CompletionStage<Json> cancel(String job, ApiRequest request) {
    return api.run(new Command.Cancel(selection(job, request, true)))
        .thenApply(OperationResources::json);
  }

  private CompletionStage<Json> kill(String job, ApiRequest request) {
    return api.run(new Command.KillTasks(selection(job, request, true)))
        .thenApply(OperationResources::json);
  }

  private static TaskSelection selection(String job, ApiRequest request, boolean mustChoose) {
    request.allowingInBody("selector", "preview", "expect", "author", "reason");
    boolean counted = request.body().get("expect") != null;
    return new TaskSelection(
        job,
        selector(request.body().get("selector"), mustChoose),
        BodyFields.flag(request.body(), "preview"),
        counted ? BodyFields.whole(request, "expect", 0, MOST_TASKS) : -1,
        BodyFields.author(request),
        request.bodyText("reason"));
  }

  private static TaskSelector selector(@Nullable Json given, boolean must) {
    if (given != null && !(given instanceof Json.Obj)) {
      throw ApiException.badRequest("\"selector\" must be an object, not " + given.kind());
    }
    Json.Obj selector = given == null ? Json.Obj.EMPTY : (Json.Obj) given;
    TreeSet<String> unknown = new TreeSet<>(selector.members().keySet());
    unknown.removeAll(SELECTOR);
    if (!unknown.isEmpty()) {
      throw ApiException.badRequest(
          "unknown members of \"selector\": "
              + String.join(", ", unknown)
              + "; there are "
              + String.join(", ", new TreeSet<>(SELECTOR)));
    }
    boolean all = BodyFields.flag(selector, "all");
    TaskSelector made =
        new TaskSelector(
            statuses(BodyFields.texts(selector, "statuses")),
            text(selector, "prefix"),
            new HashSet<>(BodyFields.texts(selector, "nodes")),
            text(selector, "fingerprint"));
    if (must && !all && made.equals(TaskSelector.ALL)) {
      throw ApiException.badRequest(
          "\"selector\" must say which tasks: statuses, prefix, nodes or fingerprint; \"all\": true"
              + " for all of them");
    }
    if (all && !made.equals(TaskSelector.ALL)) {
      throw ApiException.badRequest(
          "\"selector\" says \"all\" and something else: leave one of them out");
    }
    return made;
  }

  private static String text(Json.Obj of, String name) {
    Json value = of.get(name);
    if (value == null) {
      return "";
    }
    if (value instanceof Json.Str text) {
      return text.value();
    }
    throw ApiException.badRequest("\"" + name + "\" must be a string, not " + value.kind());
  }

  private static Set<StatusLabel> statuses(List<String> words) {
    EnumSet<StatusLabel> labels = EnumSet.noneOf(StatusLabel.class);
    TreeSet<String> unknown = new TreeSet<>();
    for (String word : words) {
      Optional<StatusLabel> label = StatusLabel.of(word);
      label.ifPresentOrElse(labels::add, () -> unknown.add(word));
    }
    if (!unknown.isEmpty()) {
      throw ApiException.badRequest(
          "unknown statuses: "
              + String.join(", ", unknown)
              + "; there are "
              + String.join(", ", Stream.of(StatusLabel.values()).map(StatusLabel::word).toList()));
    }
    return labels;
  }

  private static Json json(SelectionResult selected) {
    return Json.object()
        .put("job", selected.job())
        .put("matched", selected.matched())
        .put("running", selected.running())
        .put("samples", Json.strings(selected.samples()))
        .put("preview", selected.preview())
        .put("changed", selected.changed())
        .build();
  }
}
