package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.time.Instant;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code job-history JOB}: who saved what, when and why. */
@Command(
    name = "job-history",
    mixinStandardHelpOptions = true,
    description = "List the versions of a job that were saved or deleted, oldest first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier job-history backup", "  espalier save-job backup --back-to 3"})
final class JobHistoryCommand extends ListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  JobHistoryCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, ApiV1.HISTORY, Map.of("job", job), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    Table table = new Table(">VERSION", "WHEN", "WHO", "WHAT", "WHY");
    for (Json.Obj version : Fields.objects(body, "versions")) {
      table.row(
          Fields.number(version, "version"),
          Instant.ofEpochMilli(Fields.number(version, "at_ms")),
          Fields.text(version, "author"),
          version.get("config") == null ? "deleted" : "saved",
          Fields.text(version, "reason"));
    }
    print(table, job + " was never saved or deleted through this scheduler");
  }
}
