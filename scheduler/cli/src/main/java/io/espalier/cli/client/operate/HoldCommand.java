package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The common part of the commands that control whether a worker accepts tasks. */
public abstract class HoldCommand extends ClientCommand {
  @Parameters(paramLabel = "WORKER", description = "Shard of the worker, as `workers` names it.")
  private String worker = "";

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  public HoldCommand(CommandContext clients) {
    super(clients);
  }

  public String worker() {
    return worker;
  }

  /** Sends the command and returns the worker as it is afterwards. */
  public Json.Obj tell(Client client, String template) {
    return client.call("POST", template, Map.of("worker", worker), Map.of(), reason(reason));
  }

  public void say(Json.Obj body, String text) {
    if (json()) {
      print(body);
    } else {
      out().println(HumanFormat.clean(text));
    }
  }

  public static String running(Json.Obj body) {
    long running = JsonFields.number(body, "running");
    return running == 1 ? "1 task still runs" : running + " tasks still run";
  }
}
