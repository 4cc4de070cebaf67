package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code running [JOB...]}: lists running tasks. */
@Command(
    name = "running",
    mixinStandardHelpOptions = true,
    description = "List the tasks that run now.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier running", "  espalier running backup --watch 1"})
public final class RunningCommand extends ListCommand {
  @Parameters(paramLabel = "JOB", arity = "0..*", description = "Only of these jobs.")
  private List<String> jobs = List.of();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "1000",
      description = "At most so many tasks (default: ${DEFAULT-VALUE}).")
  private int limit = 1000;

  public RunningCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(
        client,
        ApiV1.RUNNING,
        Map.of(),
        Map.of("job", jobs, "limit", List.of(Integer.toString(limit))));
  }

  @Override
  public void show(Json.Obj body) {
    long now = JsonFields.number(body, "published_at_ms");
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
    List<Json.Obj> running = JsonFields.objects(body, "running");
    for (Json.Obj task : running) {
      Json.Obj usage = JsonFields.object(task, "usage");
      table.row(
          JsonFields.text(task, "job"),
          JsonFields.text(task, "node"),
          JsonFields.number(task, "attempt"),
          HumanFormat.duration(now - JsonFields.number(task, "started_at_ms")),
          TaskDetail.timeLeft(task, now),
          TaskDetail.progress(task),
          JsonFields.text(task, "worker"),
          HumanFormat.seconds(usage, "cpu_ms"),
          HumanFormat.bytes(usage, "memory_bytes"),
          HumanFormat.bytes(usage, "read_bytes"),
          HumanFormat.bytes(usage, "written_bytes"),
          String.join(", ", JsonFields.texts(usage, "gpus")));
    }
    print(table, "nothing is running");
    long more = JsonFields.number(body, "total") - running.size();
    if (more > 0) {
      remark("and " + more + " more; see --limit");
    }
  }
}
