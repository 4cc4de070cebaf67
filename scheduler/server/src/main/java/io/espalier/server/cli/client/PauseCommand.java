package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code pause JOB}: stops starts of a job. */
@Command(
    name = "pause",
    mixinStandardHelpOptions = true,
    description = "Start nothing more of a job until it is resumed; kill nothing.")
final class PauseCommand extends ClientCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  PauseCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    Json.Obj body = client.call("POST", ApiV1.PAUSE, Map.of("job", job), Map.of(), reason(reason));
    if (json()) {
      print(body);
    } else {
      out().println(Screen.clean(job + " is paused"));
    }
    return ExitCode.OK;
  }
}
