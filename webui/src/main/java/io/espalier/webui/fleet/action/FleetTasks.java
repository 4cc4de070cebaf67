package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.SchedulerReply;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Finds the schedulers that have a task by querying all that have its job. */
public final class FleetTasks {
  private static final int AT_A_TIME = 64;
  private static final int MOST_LISTED = 100;
  private static final int NOT_FOUND = 404;

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
    String path = "/api/v1/jobs/" + encoded(job) + "/tasks/" + encoded(node);
    Map<String, Json> found = new TreeMap<>();
    Map<String, SchedulerUnreachableException> missing = new TreeMap<>();
    hosts.forEach(
        host ->
            missing.put(
                host.id(),
                new SchedulerUnreachableException(
                    FleetSchedulerState.SLOW, true, "it does not answer in time")));
    return Fanout.each(
            hosts,
            AT_A_TIME,
            client.readers(),
            host ->
                client
                    .ask(
                        host.address(),
                        "GET",
                        path,
                        null,
                        Map.of(),
                        options.receive(),
                        FleetTasks::read)
                    .handle(
                        (task, failure) -> {
                          synchronized (missing) {
                            missing.remove(host.id());
                            if (failure != null) {
                              missing.put(host.id(), SchedulerUnreachableException.of(failure));
                            } else if (task.here() != null) {
                              found.put(host.id(), form(host, task.here()));
                            }
                          }
                          return null;
                        }))
        .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
        .thenApplyAsync(
            done -> {
              synchronized (missing) {
                return answer(job, node, hosts.size(), found, missing);
              }
            },
            client.readers());
  }

  /** The answer of one scheduler; null: it does not have the task. */
  private record Task(Json.@Nullable Obj here) {}

  private static Task read(SchedulerReply reply) {
    if (reply.status() == NOT_FOUND) {
      return new Task(null);
    }
    if (reply.json() instanceof Json.Obj task) {
      return new Task(task);
    }
    throw new SchedulerUnreachableException(FleetSchedulerState.ERROR, true, "this is no task");
  }

  private static Json form(FleetSchedulerView host, Json.Obj task) {
    return Json.object()
        .put("id", host.id())
        .put("name", host.address().name())
        .put("task", task)
        .build();
  }

  private static Json answer(
      String job,
      String node,
      int asked,
      Map<String, Json> found,
      Map<String, SchedulerUnreachableException> missing) {
    List<Json> list = new ArrayList<>();
    missing.forEach(
        (host, failure) -> {
          if (list.size() < MOST_LISTED) {
            list.add(
                Json.object()
                    .put("host", host)
                    .put("state", failure.state().word())
                    .put("detail", failure.detail())
                    .build());
          }
        });
    return Json.object()
        .put("job", job)
        .put("node", node)
        .put("asked", asked)
        .put("hosts", new Json.Arr(found.values().stream().limit(MOST_LISTED).toList()))
        .put("missing_total", missing.size())
        .put("missing", new Json.Arr(list))
        .build();
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
