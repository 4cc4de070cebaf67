package io.espalier.worker;

import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.process.SupervisorOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Batches of real processes; a script gets the batch file, status path and JSON as $1, $2, $3. */
final class BatchBench implements AutoCloseable {
  /**
   * What scripts can use: {@code nodes} writes the nodes of the batch, {@code say NODE REST} a line
   * of the status channel.
   */
  static final String LIBRARY =
      "status=$2; batch=$1; nodes() { sed 's/.*\"node\":\"\\([^\"]*\\)\".*/\\1/' \"$batch\"; };"
          + " say() { echo \"{\\\"node\\\":\\\"$1\\\",$2}\" >> \"$status\"; }; ";

  static final String DONE = "'\"status\":\"done\"'";
  static final String STARTED = "'\"started\":true'";

  final TaskBench tasks;
  private long number;

  private BatchBench(TaskBench tasks) {
    this.tasks = tasks;
  }

  static BatchBench open(Path directory) throws IOException {
    return open(TaskBench.options(directory));
  }

  static BatchBench open(SupervisorOptions options) throws IOException {
    return new BatchBench(TaskBench.open(options));
  }

  /** The tasks of a batch whose program is the script. */
  List<LaunchSpec> batch(String script, String... nodes) {
    number++;
    return Stream.of(nodes)
        .map(
            node ->
                tasks
                    .sh(node, LIBRARY + script)
                    .with(
                        launch ->
                            launch
                                .batch(number)
                                .argument(
                                    Json.object()
                                        .put("id", "job")
                                        .put("config", Json.object().put("speed", 3).build())
                                        .put("path_to_node", Json.strings(List.of("i", node)))
                                        .build())))
        .toList();
  }

  List<LaunchSpec> start(List<LaunchSpec> batch) {
    tasks.runner.startBatch(batch);
    return batch;
  }

  List<TaskResult> run(List<LaunchSpec> batch) {
    return start(batch).stream().map(tasks.ends::await).toList();
  }

  /** The first line that the process has written, for whichever of its tasks. */
  String firstLine(List<LaunchSpec> batch) {
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> batch.stream().anyMatch(launch -> !tasks.out(launch).isEmpty()));
    return batch.stream()
        .flatMap(launch -> tasks.out(launch).stream())
        .findFirst()
        .orElseThrow()
        .strip();
  }

  @Override
  public void close() {
    tasks.close();
  }
}
