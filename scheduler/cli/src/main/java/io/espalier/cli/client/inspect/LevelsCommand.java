package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code levels JOB}: counts states per level. */
@Command(
    name = "levels",
    mixinStandardHelpOptions = true,
    description = "Count, for each level of the tree, the nodes with tasks of a job by state.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier levels backup"})
public final class LevelsCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  public LevelsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, Paths.LEVELS, Map.of("job", job), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table(
                "LEVEL",
                ">NODES",
                ">DONE",
                ">RUNNING",
                ">READY",
                ">WAITING",
                ">FAILED",
                "~>BLOCKED",
                "~>AVOIDED",
                "~>DISABLED")
            .paint("FAILED", AnsiStyle::ofTrouble);
    for (Json.Obj level : JsonFields.objects(body, "levels")) {
      Json.Obj states = JsonFields.object(level, "states");
      table.row(
          JsonFields.text(level, "level"),
          JsonFields.number(level, "nodes"),
          JsonFields.number(states, "done"),
          JsonFields.number(states, "running"),
          JsonFields.number(states, "ready"),
          JsonFields.number(states, "waiting"),
          JsonFields.number(states, "failed"),
          JsonFields.number(states, "blocked"),
          JsonFields.number(states, "avoided"),
          JsonFields.number(states, "disabled"));
    }
    print(table, "there are no levels");
  }
}
