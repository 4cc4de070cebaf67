package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code resume JOB}: ends a pause. */
@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    description = "End the pause of a job.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier resume backup"})
public final class ResumeCommand extends ClientCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  public ResumeCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = client.call("POST", ApiV1.RESUME, Map.of("job", job), Map.of(), reason(reason));
    if (json()) {
      print(body);
    } else {
      out().println(HumanFormat.clean(job + " is not paused any more"));
    }
    return ExitCode.OK;
  }
}
