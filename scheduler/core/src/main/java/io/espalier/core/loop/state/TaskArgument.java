package io.espalier.core.loop.state;

import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.status.StepPosition;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON argument of a task (docs/design/bistro.md#the-json-argument). */
public final class TaskArgument {
  private static final String ROLE = "role";

  private TaskArgument() {}

  /**
   * The role of a task's node under the parent through which it runs, from its argument; empty:
   * none or unknown.
   */
  static String roleIn(Json.Obj argument) {
    return argument.get(ROLE) instanceof Json.Str role ? role.value() : "";
  }

  /**
   * Builds the argument of a task.
   *
   * @param path names from the instance down to the task's node
   * @param role role of the node under the parent through which the task runs; empty: none
   * @param resources slots charged, by node and resource name
   * @param step the step that runs; null: the task has one only
   * @param checkpoint the newest progress of earlier attempts; null when there is none
   * @param previous the task's status before this start, in its JSON form; null on the first run
   */
  public static Json.Obj of(
      Job job,
      List<String> path,
      String role,
      Map<String, Map<String, Integer>> resources,
      @Nullable StepPosition step,
      Json.@Nullable Obj previous,
      Json.@Nullable Obj checkpoint,
      String workerNode,
      String workerHost) {
    Json.Builder byNode = Json.object();
    resources.forEach(
        (node, slots) -> {
          Json.Builder amounts = Json.object();
          slots.forEach((resource, amount) -> amounts.put(resource, amount.longValue()));
          byNode.put(node, amounts.build());
        });
    return Json.object()
        .put("id", job.name())
        .put("path_to_node", Json.strings(path))
        .putIfPresent(ROLE, role.isEmpty() ? null : Json.of(role))
        .put("config", job.config())
        .put("resources_by_node", byNode.build())
        .putIfPresent("step", step == null ? null : Json.of(step.step()))
        .putIfPresent("phase", step == null ? null : Json.of(step.phase().word()))
        .putIfPresent("prev_status", previous)
        .putIfPresent("checkpoint", checkpoint)
        .put("worker_node", workerNode)
        .put("worker_host", workerHost)
        .build();
  }
}
