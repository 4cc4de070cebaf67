package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code workers}: what runs tasks. */
@Command(
    name = "workers",
    mixinStandardHelpOptions = true,
    description = "List the workers: their state, how many tasks they run, slots used and in all.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier workers", "  espalier workers --watch"})
final class WorkersCommand extends ListCommand {
  WorkersCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, ApiV1.WORKERS, Map.of(), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    Table table =
        new Table("WORKER", "~KIND", "HOST", "STATE", ">RUNNING", "SLOTS", "NOTE")
            .paint("STATE", Paint::ofState);
    for (Json.Obj worker : Fields.objects(body, "workers")) {
      table.row(
          Fields.text(worker, "shard"),
          Fields.text(worker, "kind"),
          Fields.text(worker, "host"),
          state(worker),
          Fields.number(worker, "running"),
          slots(worker),
          note(worker));
    }
    print(table, "there are no workers");
  }

  private static String state(Json.Obj worker) {
    String state = Fields.text(worker, "state");
    boolean cordoned = Fields.text(Fields.object(worker, "hold"), "kind").equals("cordon");
    return cordoned ? state + ", cordoned" : state;
  }

  private static String slots(Json.Obj worker) {
    List<String> parts = new ArrayList<>();
    Json.Obj slots = Fields.object(worker, "slots");
    for (String resource : slots.members().keySet()) {
      Json.Obj of = Fields.object(slots, resource);
      parts.add(resource + " " + Fields.number(of, "used") + "/" + Fields.number(of, "limit"));
    }
    return String.join(", ", parts);
  }

  /** Why it is in its state: what an operator said comes first. */
  private static String note(Json.Obj worker) {
    String reason = Fields.text(Fields.object(worker, "hold"), "reason");
    return reason.isEmpty() ? Fields.text(worker, "note") : reason;
  }
}
