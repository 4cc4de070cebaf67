package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code leadership}: shows the leader. */
@Command(
    name = "leadership",
    mixinStandardHelpOptions = true,
    description = "Say which scheduler of a group leads, and which stand by.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier leadership", "  espalier leadership --zookeeper zk1:2181/espalier"})
public final class LeadershipCommand extends ListCommand {
  public LeadershipCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.LEADERSHIP, Map.of(), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    if (!JsonFields.isTrue(body, "elected")) {
      say("this scheduler is alone: no election");
      return;
    }
    Table table = new Table("SCHEDULER", "ROLE");
    String role = "leads";
    for (String candidate : JsonFields.texts(body, "candidates")) {
      table.row(candidate, role);
      role = "stands by";
    }
    print(table, "there are no candidates");
    say("epoch " + JsonFields.number(body, "epoch"));
    String problem = JsonFields.text(body, "problem");
    if (!problem.isEmpty()) {
      say(problem);
    }
  }
}
