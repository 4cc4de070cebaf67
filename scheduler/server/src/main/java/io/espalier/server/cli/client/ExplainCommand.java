package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code explain JOB NODE}: why a task is not running. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = "Say why a task is not running: every condition that fails.")
final class ExplainCommand extends OfflineCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
  private String node = "";

  ExplainCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    Json.Obj body = get(client, ApiV1.EXPLAIN, Map.of("job", job, "node", node), Map.of());
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
    String verdict =
        Fields.isTrue(body, "startable")
            ? "nothing stands in its way; it starts in the next round that reaches it"
            : "it cannot start:";
    out()
        .println(
            Screen.clean(
                Fields.text(body, "job")
                    + " on "
                    + Fields.text(body, "node")
                    + " is "
                    + Fields.text(body, "status")
                    + "; "
                    + verdict));
    for (Json.Obj reason : Fields.objects(body, "reasons")) {
      out().println(Screen.clean("  - " + Fields.text(reason, "message") + details(reason)));
    }
    return ExitCode.OK;
  }

  private static String details(Json.Obj reason) {
    StringBuilder details = new StringBuilder(" [").append(Fields.text(reason, "kind"));
    if (reason.get("resource") != null) {
      details
          .append(": needs ")
          .append(Fields.number(reason, "need"))
          .append(", free ")
          .append(Fields.number(reason, "free"))
          .append(" of ")
          .append(Fields.number(reason, "limit"));
    }
    long until = Fields.number(reason, "until_ms");
    if (until > 0) {
      details.append(" until ").append(Screen.time(until));
    }
    return details.append(']').toString();
  }
}
