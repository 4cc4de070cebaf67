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

/** {@code kill JOB NODE}: stops a running task. */
@Command(
    name = "kill",
    mixinStandardHelpOptions = true,
    description = "Signal a running task as its job's kill_subprocess says.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier kill backup db17 --reason 'stuck on a lock'"})
public final class KillCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
  private String node = "";

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  public KillCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body =
        client.call("POST", ApiV1.KILL, Map.of("job", job, "node", node), Map.of(), reason(reason));
    if (json()) {
      print(body);
    } else {
      out().println(HumanFormat.clean(job + " on " + node + ": signaled"));
    }
    return ExitCode.OK;
  }
}
