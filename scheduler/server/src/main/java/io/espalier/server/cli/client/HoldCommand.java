package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What the commands share that tell a worker to take tasks or not. */
abstract class HoldCommand extends ClientCommand {
  @Parameters(paramLabel = "WORKER", description = "Shard of the worker, as `workers` names it.")
  private String worker = "";

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String reason = "";

  HoldCommand(Clients clients) {
    super(clients);
  }

  String worker() {
    return worker;
  }

  /** The worker as it is afterwards. */
  Json.Obj tell(Client client, String template) {
    return client.call("POST", template, Map.of("worker", worker), Map.of(), reason(reason));
  }

  void say(Json.Obj body, String text) {
    if (json()) {
      print(body);
    } else {
      out().println(Screen.clean(text));
    }
  }

  static String running(Json.Obj body) {
    long running = Fields.number(body, "running");
    return running == 1 ? "1 task still runs" : running + " tasks still run";
  }
}
