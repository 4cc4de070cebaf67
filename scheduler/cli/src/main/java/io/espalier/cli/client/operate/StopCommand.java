package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Paths;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.client.SelectingCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code stop JOB}: pauses a job and kills its running tasks. */
@Command(
    name = "stop",
    mixinStandardHelpOptions = true,
    description = "Pause a job, and kill its running tasks as its kill_subprocess says.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier stop backup --reason 'it fills the disks'", "  espalier resume backup"})
public final class StopCommand extends ClientCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Mixin private final ReasonOption reason = new ReasonOption();

  public StopCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body =
        client.call("POST", Paths.STOP, Map.of("job", job), Map.of(), reason.body().build());
    if (json()) {
      print(body);
    } else {
      say(
          job
              + " is paused; "
              + SelectingCommand.tasks(JsonFields.number(body, "signaled"))
              + " signaled");
    }
    return ExitCode.OK;
  }
}
