package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code leadership}: who leads. */
@Command(
    name = "leadership",
    mixinStandardHelpOptions = true,
    description = "Say which scheduler of a group leads, and which stand by.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier leadership", "  espalier leadership --zookeeper zk1:2181/espalier"})
final class LeadershipCommand extends ListCommand {
  LeadershipCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, ApiV1.LEADERSHIP, Map.of(), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    if (!Fields.isTrue(body, "elected")) {
      say("this scheduler is alone: no election");
      return;
    }
    Table table = new Table("SCHEDULER", "ROLE");
    String role = "leads";
    for (String candidate : Fields.texts(body, "candidates")) {
      table.row(candidate, role);
      role = "stands by";
    }
    print(table, "there are no candidates");
    say("epoch " + Fields.number(body, "epoch"));
    String problem = Fields.text(body, "problem");
    if (!problem.isEmpty()) {
      say(problem);
    }
  }
}
