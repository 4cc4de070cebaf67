package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code leadership}: who leads. */
@Command(
    name = "leadership",
    mixinStandardHelpOptions = true,
    description = "Say which scheduler of a group leads, and which stand by.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier leadership", "  espalier leadership --zookeeper zk1:2181/espalier"})
final class LeadershipCommand extends ClientCommand {
  @Mixin private final Watch watch = new Watch();

  LeadershipCommand(Clients clients) {
    super(clients);
  }

  @Override
  Watch watch() {
    return watch;
  }

  @Override
  int run(Client client) {
    Json.Obj body = get(client, ApiV1.LEADERSHIP, Map.of(), Map.of());
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
    if (!Fields.isTrue(body, "elected")) {
      say("this scheduler is alone: no election");
      return ExitCode.OK;
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
    return ExitCode.OK;
  }
}
