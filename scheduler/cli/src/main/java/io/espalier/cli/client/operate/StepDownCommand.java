package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code step-down}: makes the leader hand over to another scheduler. */
@Command(
    name = "step-down",
    mixinStandardHelpOptions = true,
    description = "Ask the scheduler that leads to let another one lead. Tasks go on.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier step-down --zookeeper zk1:2181/espalier --reason 'new kernel'"})
public final class StepDownCommand extends ClientCommand {
  @Mixin private final ReasonOption reason = new ReasonOption();

  public StepDownCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = client.call("POST", ApiV1.STEP_DOWN, Map.of(), Map.of(), reason.body().build());
    if (json()) {
      print(body);
    } else {
      say("it is stepping down");
    }
    return ExitCode.OK;
  }
}
