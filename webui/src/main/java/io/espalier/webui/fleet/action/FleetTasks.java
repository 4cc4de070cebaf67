package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Asks all schedulers that have a job about its tasks: who has one, why they fail, and wait. */
public final class FleetTasks {
  private static final int MOST_LISTED = 100;

  private final FleetOptions options;
  private final FleetClient client;

  public FleetTasks(FleetOptions options, FleetClient client) {
    this.options = options;
    this.client = client;
  }

  /**
   * Finds a task.
   *
   * @param hosts the schedulers that may have it
   * @param within time limit; schedulers that have not answered by then are reported as missing
   */
  public CompletableFuture<Json> find(
      List<FleetSchedulerView> hosts, String job, String node, Duration within) {
    return ask(hosts, job, "tasks/" + Answers.encoded(node), within)
        .thenApply(
            answers -> {
              List<Json> found = new ArrayList<>();
              answers.found().stream()
                  .limit(MOST_LISTED)
                  .forEach(
                      one ->
                          found.add(
                              Json.object()
                                  .put("id", one.host().id())
                                  .put("name", one.host().address().name())
                                  .put("task", one.said())
                                  .build()));
              return answers
                  .into(Json.object().put("job", job).put("node", node))
                  .put("hosts", new Json.Arr(found))
                  .build();
            });
  }

  /** Returns the causes of failure of a job over all of these schedulers, the most tasks first. */
  public CompletableFuture<Json> failures(
      List<FleetSchedulerView> hosts, String job, Duration within) {
    return ask(hosts, job, "failures?limit=50", within)
        .thenApply(answers -> GroupMerge.failures().answer(job, answers));
  }

  /** Returns what tasks of a job wait for over all of these schedulers, the most tasks first. */
  public CompletableFuture<Json> waiting(
      List<FleetSchedulerView> hosts, String job, Duration within) {
    return ask(hosts, job, "waiting", within)
        .thenApply(answers -> GroupMerge.waiting().answer(job, answers));
  }

  private CompletableFuture<Answers> ask(
      List<FleetSchedulerView> hosts, String job, String rest, Duration within) {
    String path = "/api/v1/jobs/" + Answers.encoded(job) + "/" + rest;
    return Answers.ask(client, options, hosts, path, within);
  }
}
