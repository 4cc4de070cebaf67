package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code history JOB}: shows the tasks of a job at another time, as the events tell. */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description =
        "Show the tasks of a job at another time, rebuilt from the events that are kept. Tasks that"
            + " had not changed up to then are not listed.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier history backup --at 2h",
      "  espalier history backup --at 2026-11-21T07:00:00Z --status running",
      "  espalier history backup --at 1d --node db17 --json"
    })
public final class HistoryCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--at",
      paramLabel = "TIME",
      description =
          "Which time: 2026-11-21T07:00:00Z, or how long ago: 90s, 15m, 2h. Default: now.")
  private String at = "";

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "Leave out earlier events, which is faster and less complete.")
  private String from = "";

  @Option(
      names = "--node",
      paramLabel = "NODE",
      description = "Only the task of this node; may be repeated.")
  private List<String> nodes = List.of();

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Only tasks in these statuses then, such as running,error_backoff.")
  private List<String> statuses = List.of();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many tasks, up to 1000 (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  public HistoryCommand(CommandContext clients) {
    super(clients, new DataDirFlag());
  }

  @Override
  public int run(Client client) {
    requireLimit(limit);
    requireSpan("--from", from, "--at", at);
    Map<String, List<String>> query = new LinkedHashMap<>();
    query.put("at_ms", optional(millis("--at", at)));
    query.put("from_ms", optional(millis("--from", from)));
    query.put("node", nodes);
    query.put("status", statuses);
    query.put("limit", List.of(Integer.toString(limit)));
    Json.Obj body = get(client, ApiV1.PAST_TASKS, Map.of("job", job), query);
    if (json()) {
      print(body);
    } else {
      show(body);
    }
    return ExitCode.OK;
  }

  private void show(Json.Obj body) {
    List<String> counts = new ArrayList<>();
    Json.Obj had = JsonFields.object(body, "statuses");
    had.members().forEach((word, count) -> counts.add(JsonFields.number(had, word) + " " + word));
    say(
        job
            + " at "
            + HumanFormat.time(JsonFields.number(body, "at_ms"))
            + ": "
            + (counts.isEmpty() ? "no task had changed" : String.join(", ", counts)));
    if (body.get("complete") instanceof Json.Bool complete && !complete.value()) {
      remark(
          "events before "
              + HumanFormat.time(JsonFields.number(body, "since_ms"))
              + (from.isEmpty() ? " are gone" : " were left out")
              + ": tasks that have changed only before are missing");
    }
    Table table =
        new Table("NODE", "STATUS", ">ATTEMPTS", "?STEP", "SINCE", "?~UNTIL", "?WORKER", "?FAILURE")
            .paint("STATUS", AnsiStyle::ofState);
    for (Json.Obj task : JsonFields.objects(body, "tasks")) {
      table.row(
          JsonFields.text(task, "node"),
          JsonFields.text(task, "status"),
          JsonFields.number(task, "attempts"),
          JsonFields.text(task, "step"),
          HumanFormat.time(JsonFields.number(task, "since_ms")),
          task.get("until_ms") == null ? "" : HumanFormat.time(JsonFields.number(task, "until_ms")),
          JsonFields.text(task, "worker"),
          JsonFields.text(task, "failure"));
    }
    print(table, "there are no such tasks");
    if (!JsonFields.text(body, "next").isEmpty()) {
      remark("there are more tasks; see --limit, --status and --node");
    }
  }
}
