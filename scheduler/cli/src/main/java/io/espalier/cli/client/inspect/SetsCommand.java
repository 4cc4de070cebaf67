package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

/** {@code sets}: lists the sets of jobs and their progress. */
@Command(
    name = "sets",
    mixinStandardHelpOptions = true,
    description = "List the sets of jobs and how far they are; jobs --set shows the jobs of one.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier sets --watch", "  espalier jobs --set 2026-11-upgrade"})
public final class SetsCommand extends ListCommand {
  public SetsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.SETS, Map.of(), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table(
                "SET",
                ">JOBS",
                "STATES",
                ">DONE",
                ">TOTAL",
                ">RUNNING",
                ">FAILED",
                "~>CANCELLED",
                "?~COUNTERS")
            .paint("FAILED", AnsiStyle::ofTrouble);
    for (Json.Obj set : JsonFields.objects(body, "sets")) {
      Json.Obj progress = JsonFields.object(set, "progress");
      table.row(
          JsonFields.text(set, "name"),
          JsonFields.number(set, "size"),
          JsonFields.object(set, "states").members().entrySet().stream()
              .map(state -> state.getValue() + " " + state.getKey())
              .collect(Collectors.joining(", ")),
          JsonFields.number(progress, "done"),
          JsonFields.number(progress, "total"),
          JsonFields.number(progress, "running"),
          JsonFields.number(progress, "failed"),
          JsonFields.number(progress, "cancelled"),
          TaskDetail.counterRates(set));
    }
    print(table, "no job belongs to a set");
  }
}
