package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import picocli.CommandLine.Command;

/** {@code clear-limit LEVEL RESOURCE}: restores the limit of the configuration. */
@Command(
    name = "clear-limit",
    mixinStandardHelpOptions = true,
    description = "Take back what set-limit has set: the configuration's limit holds again.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier clear-limit host concurrency",
      "  espalier clear-limit rack uplink --node rack7"
    })
public final class ClearLimitCommand extends LimitCommand {
  public ClearLimitCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = call(client, "DELETE", reason().build());
    if (json()) {
      print(body);
    } else {
      say("the limit of " + target() + " is what the configuration says");
    }
    return ExitCode.OK;
  }
}
