package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code failures JOB}: what went wrong, each way once. */
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
final class FailuresCommand extends OfflineListCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "20",
      description = "At most so many ways (default: ${DEFAULT-VALUE}).")
  private int limit = 20;

  FailuresCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(
        client,
        Paths.FAILURES,
        Map.of("job", job),
        Map.of("limit", List.of(Integer.toString(limit))));
  }

  @Override
  void show(Json.Obj body) {
    Table table =
        new Table("FINGERPRINT", ">TASKS", ">FAILED", "~>WAITING", "~NEWEST", "~SUCH AS", "MESSAGE")
            .paint("FAILED", Paint::ofTrouble);
    for (Json.Obj group : Fields.objects(body, "groups")) {
      List<String> samples = Fields.texts(group, "samples");
      table.row(
          Fields.text(group, "fingerprint"),
          Fields.number(group, "count"),
          Fields.number(group, "failed"),
          Fields.number(group, "waiting"),
          Screen.time(Fields.number(group, "newest_ms")),
          samples.isEmpty() ? "" : samples.get(0),
          Fields.text(group, "message"));
    }
    print(table, "nothing has failed");
  }
}
