package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.time.Instant;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code job-history JOB}: lists the saved versions of a job with author, time and reason. */
@Command(
    name = "job-history",
    mixinStandardHelpOptions = true,
    description = "List the versions of a job that were saved or deleted, oldest first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier job-history backup", "  espalier save-job backup --back-to 3"})
public final class JobHistoryCommand extends ListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  public JobHistoryCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.HISTORY, Map.of("job", job), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    Table table = new Table(">VERSION", "WHEN", "WHO", "WHAT", "WHY");
    for (Json.Obj version : JsonFields.objects(body, "versions")) {
      table.row(
          JsonFields.number(version, "version"),
          Instant.ofEpochMilli(JsonFields.number(version, "at_ms")),
          JsonFields.text(version, "author"),
          version.get("config") == null ? "deleted" : "saved",
          JsonFields.text(version, "reason"));
    }
    print(table, job + " was never saved or deleted through this scheduler");
  }
}
