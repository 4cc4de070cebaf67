package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code workers}: lists the workers. */
@Command(
    name = "workers",
    mixinStandardHelpOptions = true,
    description = "List the workers: their state, how many tasks they run, slots used and in all.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier workers", "  espalier workers --watch"})
public final class WorkersCommand extends ListCommand {
  public WorkersCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.WORKERS, Map.of(), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table("WORKER", "~KIND", "HOST", "STATE", ">RUNNING", "SLOTS", "NOTE")
            .paint("STATE", AnsiStyle::ofState);
    for (Json.Obj worker : JsonFields.objects(body, "workers")) {
      table.row(
          JsonFields.text(worker, "shard"),
          JsonFields.text(worker, "kind"),
          JsonFields.text(worker, "host"),
          state(worker),
          JsonFields.number(worker, "running"),
          slots(worker),
          note(worker));
    }
    print(table, "there are no workers");
  }

  private static String state(Json.Obj worker) {
    String state = JsonFields.text(worker, "state");
    boolean cordoned = JsonFields.text(JsonFields.object(worker, "hold"), "kind").equals("cordon");
    return cordoned ? state + ", cordoned" : state;
  }

  private static String slots(Json.Obj worker) {
    List<String> parts = new ArrayList<>();
    Json.Obj slots = JsonFields.object(worker, "slots");
    for (String resource : slots.members().keySet()) {
      Json.Obj of = JsonFields.object(slots, resource);
      parts.add(
          resource + " " + JsonFields.number(of, "used") + "/" + JsonFields.number(of, "limit"));
    }
    return String.join(", ", parts);
  }

  /** Returns the reason for the worker's state; an operator's reason comes first. */
  private static String note(Json.Obj worker) {
    String reason = JsonFields.text(JsonFields.object(worker, "hold"), "reason");
    return reason.isEmpty() ? JsonFields.text(worker, "note") : reason;
  }
}
