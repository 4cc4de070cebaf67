package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import picocli.CommandLine.Command;

/** {@code uncordon WORKER}: ends a cordon or a drain. */
@Command(
    name = "uncordon",
    mixinStandardHelpOptions = true,
    description = "Give a worker that was cordoned or drained tasks again.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier uncordon host2"})
public final class UncordonCommand extends HoldCommand {
  public UncordonCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    say(tell(client, ApiV1.UNCORDON), worker() + " takes tasks again once it is healthy");
    return ExitCode.OK;
  }
}
