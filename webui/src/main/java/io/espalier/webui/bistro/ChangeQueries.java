package io.espalier.webui.bistro;

import io.espalier.core.api.Command;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.json.Json;
import io.espalier.webui.security.Role;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Answers the sub-queries that change something: {@code forgive_jobs}, {@code kill_task}, {@code
 * save_job}, {@code delete_job}.
 */
final class ChangeQueries {
  /** The required roles. */
  private static final Map<String, Role> ROLES =
      Map.of(
          "forgive_jobs", Role.OPERATOR,
          "kill_task", Role.OPERATOR,
          "save_job", Role.ADMIN,
          "delete_job", Role.ADMIN);

  private final SchedulerApi api;

  ChangeQueries(SchedulerApi api) {
    this.api = api;
  }

  /** Returns the role that a change requires; empty for a sub-query that changes nothing. */
  static Optional<Role> role(String handler) {
    return Optional.ofNullable(ROLES.get(handler));
  }

  void addTo(Map<String, BistroQuery> table) {
    change(table, "forgive_jobs", this::forgive);
    change(table, "kill_task", this::kill);
    change(table, "save_job", this::save);
    change(table, "delete_job", this::delete);
  }

  private static void change(Map<String, BistroQuery> table, String handler, BistroQuery query) {
    if (role(handler).isEmpty()) {
      throw new IllegalStateException(handler + " needs a role");
    }
    table.put(handler, query);
  }

  private CompletionStage<Json> forgive(Arguments arguments, Snapshot snapshot) {
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (String job : arguments.names("jobs")) {
      Command.Forgive all =
          new Command.Forgive(TaskSelection.all(job, snapshot.caller().author(""), "forgive_jobs"));
      // One by one: an unknown job must not affect those before it.
      done = done.thenCompose(before -> api.run(all));
    }
    return done.thenApply(changed -> Json.of("forgiven"));
  }

  private CompletionStage<Json> kill(Arguments arguments, Snapshot snapshot) {
    String job = arguments.text("job_id");
    String node = arguments.text("node_id");
    if (snapshot.config().job(job) == null) {
      throw new BadArgumentsException("Unknown job " + job);
    }
    return api.run(new Command.Kill(job, node, snapshot.caller().author(""), "kill_task"))
        .thenApply(done -> Json.of("signaled"));
  }

  private CompletionStage<Json> save(Arguments arguments, Snapshot snapshot) {
    return api.jobVersions()
        .save(
            arguments.text("job_id"),
            arguments.object("job"),
            JobVersions.ANY,
            snapshot.caller().author(""),
            "save_job")
        .thenApply(saved -> Json.of("saved"));
  }

  private CompletionStage<Json> delete(Arguments arguments, Snapshot snapshot) {
    return api.jobVersions()
        .delete(
            arguments.text("job_id"), JobVersions.ANY, snapshot.caller().author(""), "delete_job")
        .thenApply(deleted -> Json.of("deleted"));
  }
}
