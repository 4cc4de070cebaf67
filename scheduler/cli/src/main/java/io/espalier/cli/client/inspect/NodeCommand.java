package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code node LEVEL NODE}: shows one node of the tree. */
@Command(
    name = "node",
    mixinStandardHelpOptions = true,
    description = "Show one node: where it hangs, its limits, who holds its slots, its tasks.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier node host db-host-7"})
public final class NodeCommand extends OfflineListCommand {
  @Parameters(index = "0", paramLabel = "LEVEL", description = "Level of the node.")
  private String level = "";

  @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
  private String node = "";

  public NodeCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, Paths.NODE, Map.of("level", level, "node", node), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    boolean disabled = body.get("enabled") != null && !JsonFields.isTrue(body, "enabled");
    say(
        JsonFields.text(body, "level")
            + " "
            + JsonFields.text(body, "name")
            + (disabled ? ", disabled" : ""));
    line("below", JsonFields.texts(body, "parents"));
    line("tags", JsonFields.texts(body, "tags"));
    List<String> attributes = new ArrayList<>();
    Json.Obj given = JsonFields.object(body, "attributes");
    given.members().forEach((key, value) -> attributes.add(key + "=" + JsonFields.text(value)));
    line("attributes", attributes);
    say("children: " + amount(body, "children") + ", leaves: " + amount(body, "leaves"));
    reserved(JsonFields.object(body, "reserved"));
    resources(body);
    holders(body);
    jobs(body);
  }

  private void line(String name, List<String> values) {
    if (!values.isEmpty()) {
      say(name + ": " + String.join(", ", values));
    }
  }

  /** Returns a number, or the length of a list. */
  private static long amount(Json.Obj body, String key) {
    return body.get(key) instanceof Json.Arr list
        ? list.items().size()
        : JsonFields.number(body, key);
  }

  private void reserved(Json.Obj reserved) {
    if (!reserved.isEmpty()) {
      String task = JsonFields.text(reserved, "task");
      say(
          "kept free for: "
              + JsonFields.text(reserved, "job")
              + (task.isEmpty() ? "" : " on " + task)
              + " since "
              + HumanFormat.time(JsonFields.number(reserved, "since_ms"))
              + ", idle slots: "
              + JsonFields.number(reserved, "idle_slots"));
    }
  }

  private void resources(Json.Obj body) {
    Table table = new Table("RESOURCE", ">USED", ">LIMIT", "?>CONFIGURED");
    for (Json.Obj resource : JsonFields.objects(body, "resources")) {
      long limit = JsonFields.number(resource, "limit");
      boolean other =
          resource.get("configured") != null && JsonFields.number(resource, "configured") != limit;
      table.row(
          JsonFields.text(resource, "resource"),
          JsonFields.number(resource, "used"),
          limit,
          other ? JsonFields.number(resource, "configured") : "");
    }
    part(table);
  }

  private void holders(Json.Obj body) {
    Table table = new Table("HELD BY", "ON", "?RESOURCE", "?>SLOTS", "SINCE");
    for (Json.Obj holder : JsonFields.objects(body, "holders")) {
      table.row(
          JsonFields.text(holder, "job"),
          JsonFields.text(holder, "node"),
          JsonFields.text(holder, "resource"),
          JsonFields.text(holder, "slots"),
          HumanFormat.time(JsonFields.number(holder, "since_ms")));
    }
    part(table);
  }

  private void jobs(Json.Obj body) {
    Table table =
        new Table("JOB", ">DONE", ">RUNNING", ">READY", ">WAITING", ">FAILED")
            .paint("FAILED", AnsiStyle::ofTrouble);
    for (Json.Obj job : JsonFields.objects(body, "jobs")) {
      Json.Obj states = JsonFields.object(job, "states");
      table.row(
          JsonFields.text(job, "job"),
          JsonFields.number(states, "done"),
          JsonFields.number(states, "running"),
          JsonFields.number(states, "ready"),
          JsonFields.number(states, "waiting"),
          JsonFields.number(states, "failed"));
    }
    part(table);
  }

  private void part(Table table) {
    if (!table.isEmpty()) {
      out().println();
      print(table, "");
    }
  }
}
