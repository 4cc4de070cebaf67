package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.SelectingCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code forgive JOB...}: lets failed and waiting tasks run again. */
@Command(
    name = "forgive",
    mixinStandardHelpOptions = true,
    description = {
      "Let failed and waiting tasks of jobs start again at once.",
      "Without further flags all of them; otherwise those that the flags choose."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier forgive backup",
      "  espalier forgive backup --fingerprint 5d41402abc4b2a76 --preview",
      "  espalier forgive backup --node db17 --node db18 --reason 'disk replaced'"
    })
public final class ForgiveCommand extends SelectingCommand {
  @Parameters(paramLabel = "JOB", arity = "1..*", description = "Names of jobs, in order.")
  private List<String> jobs = List.of();

  public ForgiveCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    for (String job : jobs) {
      Json.Obj body = post(client, ApiV1.FORGIVE, job, preview());
      if (json()) {
        print(body);
      } else if (preview()) {
        printMatches(job, body, "would be forgiven");
      } else {
        say(job + ": " + tasks(JsonFields.number(body, "changed")));
      }
      // Completed commands stay reported even when a later job is unknown.
      out().flush();
    }
    return ExitCode.OK;
  }
}
