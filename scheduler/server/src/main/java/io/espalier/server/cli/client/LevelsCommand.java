package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code levels JOB}: states per level. */
@Command(
    name = "levels",
    mixinStandardHelpOptions = true,
    description = "Count, for each level of the tree, the nodes with tasks of a job by state.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier levels backup"})
final class LevelsCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  LevelsCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, Paths.LEVELS, Map.of("job", job), Map.of());
  }

  @Override
  void show(Json.Obj body) {
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
            .paint("FAILED", Paint::ofTrouble);
    for (Json.Obj level : Fields.objects(body, "levels")) {
      Json.Obj states = Fields.object(level, "states");
      table.row(
          Fields.text(level, "level"),
          Fields.number(level, "nodes"),
          Fields.number(states, "done"),
          Fields.number(states, "running"),
          Fields.number(states, "ready"),
          Fields.number(states, "waiting"),
          Fields.number(states, "failed"),
          Fields.number(states, "blocked"),
          Fields.number(states, "avoided"),
          Fields.number(states, "disabled"));
    }
    print(table, "there are no levels");
  }
}
