package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code running [JOB...]}: what runs now. */
@Command(
    name = "running",
    mixinStandardHelpOptions = true,
    description = "List the tasks that run now.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier running", "  espalier running backup --watch 1"})
final class RunningCommand extends ListCommand {
  @Parameters(paramLabel = "JOB", arity = "0..*", description = "Only of these jobs.")
  private List<String> jobs = List.of();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "1000",
      description = "At most so many tasks (default: ${DEFAULT-VALUE}).")
  private int limit = 1000;

  RunningCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(
        client,
        ApiV1.RUNNING,
        Map.of(),
        Map.of("job", jobs, "limit", List.of(Integer.toString(limit))));
  }

  @Override
  void show(Json.Obj body) {
    long now = Fields.number(body, "published_at_ms");
    Table table =
        new Table(
            "JOB",
            "NODE",
            ">ATTEMPT",
            ">FOR",
            "?>LEFT",
            "?PROGRESS",
            "WORKER",
            "?~>CPU",
            "?~>MEMORY",
            "?~>READ",
            "?~>WRITTEN",
            "?~GPUS");
    List<Json.Obj> running = Fields.objects(body, "running");
    for (Json.Obj task : running) {
      Json.Obj usage = Fields.object(task, "usage");
      table.row(
          Fields.text(task, "job"),
          Fields.text(task, "node"),
          Fields.number(task, "attempt"),
          Screen.duration(now - Fields.number(task, "started_at_ms")),
          LiveTask.timeLeft(task, now),
          LiveTask.progress(task),
          Fields.text(task, "worker"),
          Screen.seconds(usage, "cpu_ms"),
          Screen.bytes(usage, "memory_bytes"),
          Screen.bytes(usage, "read_bytes"),
          Screen.bytes(usage, "written_bytes"),
          String.join(", ", Fields.texts(usage, "gpus")));
    }
    print(table, "nothing is running");
    long more = Fields.number(body, "total") - running.size();
    if (more > 0) {
      remark("and " + more + " more; see --limit");
    }
  }
}
