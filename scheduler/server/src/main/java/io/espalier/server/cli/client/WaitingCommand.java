package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code waiting JOB}: what keeps its tasks from running, counted. */
@Command(
    name = "waiting",
    mixinStandardHelpOptions = true,
    description = "Count the tasks of a job that do not run by what keeps them.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier waiting backup", "  espalier waiting backup --watch 5"})
final class WaitingCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  WaitingCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return ask(client, job);
  }

  @Override
  void show(Json.Obj body) {
    show(this, job, body);
  }

  static Json.Obj ask(Client client, String job) {
    return get(client, Paths.WAITING, Map.of("job", job), Map.of());
  }

  /** Shows the answer as another command's. */
  static void show(ClientCommand command, String job, Json.Obj body) {
    Table table = new Table(">TASKS", "KIND", "?NODE", "?RESOURCE", "~SUCH AS", "?~UNTIL", "WHY");
    for (Json.Obj reason : Fields.objects(body, "reasons")) {
      List<String> samples = Fields.texts(reason, "samples");
      table.row(
          Fields.number(reason, "count"),
          Fields.text(reason, "kind"),
          Fields.text(reason, "node"),
          Fields.text(reason, "resource"),
          samples.isEmpty() ? "" : samples.get(0),
          reason.get("until_ms") == null ? "" : Screen.time(Fields.number(reason, "until_ms")),
          Fields.text(reason, "message"));
    }
    long total = Fields.number(body, "total");
    long counted = Fields.number(body, "counted");
    command.print(table, "no task of " + job + " waits for anything");
    if (Fields.isTrue(body, "sampled")) {
      command.remark(
          "counted over a sample of "
              + counted
              + " of "
              + total
              + " tasks at "
              + Screen.time(Fields.number(body, "at_ms")));
    }
  }
}
