package io.espalier.worker.process.spawn;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.LaunchSpec;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the process of a batch gets in the place of what a task alone gets: one JSON argument with
 * what is common to all tasks of the batch, and a file with one line of JSON for each task, in
 * their order: {@code node}, {@code invocation}, {@code token}, {@code attempt}, {@code
 * timeout_sec} if there is one, and the rest of its JSON argument
 * (docs/batches.md#what-the-program-gets).
 */
public final class BatchFile {
  /** What all tasks of one job on one worker have in common. */
  private static final Set<String> COMMON = Set.of("id", "config", "worker_node", "worker_host");

  private BatchFile() {}

  /** Returns the part of a task's JSON argument that all tasks of its batch share. */
  public static Json.Obj common(Json.Obj argument) {
    Json.Builder common = Json.object();
    argument
        .members()
        .forEach(
            (key, value) -> {
              if (COMMON.contains(key)) {
                common.put(key, value);
              }
            });
    return common.build();
  }

  /** Returns the text of the file. */
  public static String text(List<LaunchSpec> batch) {
    StringBuilder text = new StringBuilder(batch.size() * 256);
    for (LaunchSpec launch : batch) {
      Json.Builder line =
          Json.object()
              .put("node", launch.node())
              .put("invocation", TaskEnvironment.invocationId(launch))
              .put("token", launch.invocation().token())
              .put("attempt", launch.attempt());
      if (launch.limits().timeoutMillis() > 0) {
        line.put("timeout_sec", launch.limits().timeoutMillis() / 1000);
      }
      for (Map.Entry<String, Json> member : launch.argument().members().entrySet()) {
        if (!COMMON.contains(member.getKey())) {
          line.put(member.getKey(), member.getValue());
        }
      }
      JsonWriter.compact(line.build(), text);
      text.append('\n');
    }
    return text.toString();
  }
}
