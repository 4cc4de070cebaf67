package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code forgive JOB...}: failed and waiting tasks may run again. */
@Command(
    name = "forgive",
    mixinStandardHelpOptions = true,
    description = "Let failed and waiting tasks of jobs start again at once.")
final class ForgiveCommand extends OfflineCommand {
  @Parameters(paramLabel = "JOB", arity = "1..*", description = "Names of jobs, in order.")
  private List<String> jobs = List.of();

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  ForgiveCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    for (String job : jobs) {
      Json.Obj body =
          client.call("POST", ApiV1.FORGIVE, Map.of("job", job), Map.of(), reason(reason));
      if (json()) {
        print(body);
      } else {
        long changed = Fields.number(body, "changed");
        out().println(Screen.clean(job + ": " + changed + (changed == 1 ? " task" : " tasks")));
      }
      // What was done stays said even when a later job is unknown.
      out().flush();
    }
    return ExitCode.OK;
  }
}
