package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code levels JOB}: states per level. */
@Command(
    name = "levels",
    mixinStandardHelpOptions = true,
    description = "Count, for each level of the tree, the nodes with tasks of a job by state.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier levels backup"})
final class LevelsCommand extends OfflineCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Mixin private final Watch watch = new Watch();

  LevelsCommand(Clients clients) {
    super(clients);
  }

  @Override
  Watch watch() {
    return watch;
  }

  @Override
  int run(Client client) {
    Json.Obj body = get(client, Paths.LEVELS, Map.of("job", job), Map.of());
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
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
    return ExitCode.OK;
  }
}
