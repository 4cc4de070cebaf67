package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code workers}: what runs tasks. */
@Command(
    name = "workers",
    mixinStandardHelpOptions = true,
    description = "List the workers and how many tasks they run.")
final class WorkersCommand extends ClientCommand {
  WorkersCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    Json.Obj body = get(client, ApiV1.WORKERS, Map.of(), Map.of());
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
    Table table = new Table("WORKER", "KIND", ">RUNNING");
    for (Json.Obj worker : Fields.objects(body, "workers")) {
      table.row(
          Fields.text(worker, "shard"),
          Fields.text(worker, "kind"),
          Fields.number(worker, "running"));
    }
    print(table, "there are no workers");
    return ExitCode.OK;
  }
}
