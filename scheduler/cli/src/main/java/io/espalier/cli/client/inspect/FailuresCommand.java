package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code failures JOB}: lists each cause of failures once. */
@Command(
    name = "failures",
    mixinStandardHelpOptions = true,
    description = "List the ways in which tasks of a job fail, the most frequent first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier failures backup",
      "  espalier tasks backup --fingerprint 5d41402abc4b2a76",
      "  espalier forgive backup --fingerprint 5d41402abc4b2a76"
    })
public final class FailuresCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "20",
      description = "At most so many ways (default: ${DEFAULT-VALUE}).")
  private int limit = 20;

  public FailuresCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(
        client,
        Paths.FAILURES,
        Map.of("job", job),
        Map.of("limit", List.of(Integer.toString(limit))));
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table("FINGERPRINT", ">TASKS", ">FAILED", "~>WAITING", "~NEWEST", "~SUCH AS", "MESSAGE")
            .paint("FAILED", AnsiStyle::ofTrouble);
    for (Json.Obj group : JsonFields.objects(body, "groups")) {
      List<String> samples = JsonFields.texts(group, "samples");
      table.row(
          JsonFields.text(group, "fingerprint"),
          JsonFields.number(group, "count"),
          JsonFields.number(group, "failed"),
          JsonFields.number(group, "waiting"),
          HumanFormat.time(JsonFields.number(group, "newest_ms")),
          samples.isEmpty() ? "" : samples.get(0),
          JsonFields.text(group, "message"));
    }
    print(table, "nothing has failed");
  }
}
