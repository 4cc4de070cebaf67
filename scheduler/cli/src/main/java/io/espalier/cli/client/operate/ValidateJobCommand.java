package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Paths;
import io.espalier.cli.client.inspect.ProblemsCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code validate-job JOB FILE}: checks a job like save-job, without saving it. */
@Command(
    name = "validate-job",
    mixinStandardHelpOptions = true,
    description = {
      "Ask a scheduler what is wrong with a job, without saving it.",
      "FILE holds the job as save-job takes it; - is standard input. Exit code 2 if it is invalid."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier validate-job backup backup.json",
      "  espalier validate-job backup backup.json --json"
    })
public final class ValidateJobCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(index = "1", paramLabel = "FILE", description = "The job as JSON, comments allowed.")
  private String file = "";

  public ValidateJobCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body =
        client.call(
            "POST", Paths.VALIDATE, Map.of("job", job), Map.of(), SaveJobCommand.read(file));
    boolean valid = JsonFields.isTrue(body, "valid");
    if (json()) {
      print(body);
    } else {
      JsonFields.objects(body, "problems")
          .forEach(problem -> say(ProblemsCommand.sentence(problem)));
      say(job + (valid ? " can be saved" : " cannot be saved"));
    }
    return valid ? ExitCode.OK : ExitCode.USAGE;
  }
}
