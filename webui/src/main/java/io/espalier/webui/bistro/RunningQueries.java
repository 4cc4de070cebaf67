package io.espalier.webui.bistro;

import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.json.Json;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Answers {@code running_tasks} and the deprecated {@code job_node_runtime}; includes deleted jobs.
 */
final class RunningQueries {
  private final InstantSource clock;

  RunningQueries(InstantSource clock) {
    this.clock = clock;
  }

  void addTo(Map<String, BistroQuery> table) {
    table.put("running_tasks", RunningQueries::runningTasks);
    table.put("job_node_runtime", this::runtimes);
  }

  private static CompletionStage<Json> runningTasks(Arguments arguments, Snapshot snapshot) {
    return byTask(
        arguments,
        snapshot,
        task ->
            Json.object()
                .put("start_time", startSeconds(task))
                .put("worker_shard", task.workerShard())
                .build());
  }

  private CompletionStage<Json> runtimes(Arguments arguments, Snapshot snapshot) {
    long now = clock.millis() / 1000;
    return byTask(arguments, snapshot, task -> Json.of(now - startSeconds(task)));
  }

  private static long startSeconds(RunningTaskView task) {
    return task.invocation().startMillis() / 1000;
  }

  private static CompletionStage<Json> byTask(
      Arguments arguments, Snapshot snapshot, Function<RunningTaskView, Json> value) {
    Set<String> wanted = new HashSet<>(arguments.names("jobs"));
    Map<String, Json.Builder> jobs = new LinkedHashMap<>();
    for (RunningTaskView task : snapshot.view().running()) {
      if (wanted.isEmpty() || wanted.contains(task.job())) {
        jobs.computeIfAbsent(task.job(), job -> Json.object()).put(task.node(), value.apply(task));
      }
    }
    Json.Builder data = Json.object();
    jobs.forEach((job, nodes) -> data.put(job, nodes.build()));
    return CompletableFuture.completedFuture(data.build());
  }
}
