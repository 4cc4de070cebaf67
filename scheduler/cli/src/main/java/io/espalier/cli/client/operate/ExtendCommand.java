package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code extend JOB NODE SECONDS}: gives a running task more time. */
@Command(
    name = "extend",
    mixinStandardHelpOptions = true,
    description = "Give a running task more time: moves its timeout and its deadline.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier extend backup db17 3600"})
public final class ExtendCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
  private String node = "";

  @Parameters(index = "2", paramLabel = "SECONDS", description = "How much longer it may take.")
  private double seconds;

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  public ExtendCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if (!(seconds > 0 && seconds <= 1e9)) {
      throw new ParameterException(spec().commandLine(), "SECONDS must be above 0 and at most 1e9");
    }
    Json.Obj body =
        client.call(
            "POST",
            ApiV1.EXTEND,
            Map.of("job", job, "node", node),
            Map.of(),
            reason(reason).with("seconds", Json.of(seconds)));
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
    long timeout = JsonFields.number(body, "timeout_at_ms");
    long deadline = JsonFields.number(body, "deadline_ms");
    long end = timeout == 0 || (deadline != 0 && deadline < timeout) ? deadline : timeout;
    out()
        .println(
            HumanFormat.clean(job + " on " + node + ": may run until " + HumanFormat.time(end)));
    return ExitCode.OK;
  }
}
