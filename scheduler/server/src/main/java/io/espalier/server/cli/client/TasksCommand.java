package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code tasks JOB}: the tasks of a job. */
@Command(
    name = "tasks",
    mixinStandardHelpOptions = true,
    description = "List the tasks of a job, in node order.")
final class TasksCommand extends OfflineCommand {
  private static final int PAGE = 1000;

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      description = "Only tasks in this status, such as failed or error_backoff.")
  private String status = "";

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      description = "Only nodes whose names begin with this.")
  private String prefix = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many tasks (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  TasksCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    if (limit < 1) {
      throw new ParameterException(spec().commandLine(), "--limit must be at least 1");
    }
    List<Json> tasks = new ArrayList<>();
    String after = "";
    do {
      int page = Math.min(PAGE, limit - tasks.size());
      Json.Obj body =
          get(
              client,
              ApiV1.TASKS,
              Map.of("job", job),
              Map.of(
                  "status", optional(status),
                  "prefix", optional(prefix),
                  "after", optional(after),
                  "limit", List.of(Integer.toString(page))));
      tasks.addAll(Fields.objects(body, "tasks"));
      after = Fields.text(body, "next");
    } while (!after.isEmpty() && tasks.size() < limit);
    Json.Obj all = Json.object().put("tasks", new Json.Arr(tasks)).put("next", after).build();
    if (json()) {
      print(all);
      return ExitCode.OK;
    }
    Table table = new Table("NODE", "STATUS", ">ATTEMPTS", "SINCE", "UNTIL", "?PROGRESS", "DATA");
    for (Json.Obj task : Fields.objects(all, "tasks")) {
      Json.Obj data = Fields.object(task, "data");
      table.row(
          Fields.text(task, "node"),
          Fields.text(task, "status"),
          Fields.number(task, "attempts"),
          Screen.time(Fields.number(task, "since_ms")),
          Screen.time(Fields.number(task, "until_ms")),
          progress(task),
          data.isEmpty() ? "" : JsonWriter.compact(data));
    }
    print(table, "there are no such tasks");
    if (!after.isEmpty()) {
      remark("there are more tasks; see --limit, --status and --prefix");
    }
    return ExitCode.OK;
  }

  private static String progress(Json.Obj task) {
    Json.Obj running = Fields.object(task, "running");
    return running.isEmpty() || Fields.object(running, "progress").isEmpty()
        ? LiveTask.counts(Fields.object(task, "checkpoint"))
        : LiveTask.progress(running);
  }
}
