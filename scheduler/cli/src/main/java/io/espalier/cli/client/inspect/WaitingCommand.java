package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code waiting JOB}: counts the reasons why tasks do not run. */
@Command(
    name = "waiting",
    mixinStandardHelpOptions = true,
    description = "Count the tasks of a job that do not run by what keeps them.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier waiting backup", "  espalier waiting backup --watch 5"})
public final class WaitingCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  public WaitingCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return ask(client, job);
  }

  @Override
  public void show(Json.Obj body) {
    show(this, job, body);
  }

  static Json.Obj ask(Client client, String job) {
    return get(client, Paths.WAITING, Map.of("job", job), Map.of());
  }

  /** Prints the answer as part of another command. */
  static void show(ClientCommand command, String job, Json.Obj body) {
    Table table = new Table(">TASKS", "KIND", "?NODE", "?RESOURCE", "~SUCH AS", "?~UNTIL", "WHY");
    for (Json.Obj reason : JsonFields.objects(body, "reasons")) {
      List<String> samples = JsonFields.texts(reason, "samples");
      table.row(
          JsonFields.number(reason, "count"),
          JsonFields.text(reason, "kind"),
          JsonFields.text(reason, "node"),
          JsonFields.text(reason, "resource"),
          samples.isEmpty() ? "" : samples.get(0),
          reason.get("until_ms") == null
              ? ""
              : HumanFormat.time(JsonFields.number(reason, "until_ms")),
          JsonFields.text(reason, "message"));
    }
    long total = JsonFields.number(body, "total");
    long counted = JsonFields.number(body, "counted");
    command.print(table, "no task of " + job + " waits for anything");
    if (JsonFields.isTrue(body, "sampled")) {
      command.remark(
          "counted over a sample of "
              + counted
              + " of "
              + total
              + " tasks at "
              + HumanFormat.time(JsonFields.number(body, "at_ms")));
    }
  }
}
