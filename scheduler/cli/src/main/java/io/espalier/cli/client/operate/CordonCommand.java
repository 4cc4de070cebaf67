package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import picocli.CommandLine.Command;

/** {@code cordon WORKER}: stops new tasks for a worker. */
@Command(
    name = "cordon",
    mixinStandardHelpOptions = true,
    description = "Give a worker no new tasks until it is uncordoned; kill nothing.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier cordon host2 --reason 'slow disk'"})
public final class CordonCommand extends HoldCommand {
  public CordonCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = tell(client, ApiV1.CORDON);
    say(body, worker() + " is cordoned; " + running(body) + " on it");
    return ExitCode.OK;
  }
}
