package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code node LEVEL NODE}: one node of the tree. */
@Command(
    name = "node",
    mixinStandardHelpOptions = true,
    description = "Show one node: where it hangs, its limits, who holds its slots, its tasks.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier node host db-host-7"})
final class NodeCommand extends OfflineListCommand {
  @Parameters(index = "0", paramLabel = "LEVEL", description = "Level of the node.")
  private String level = "";

  @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
  private String node = "";

  NodeCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, Paths.NODE, Map.of("level", level, "node", node), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    boolean disabled = body.get("enabled") != null && !Fields.isTrue(body, "enabled");
    say(
        Fields.text(body, "level")
            + " "
            + Fields.text(body, "name")
            + (disabled ? ", disabled" : ""));
    line("below", Fields.texts(body, "parents"));
    line("tags", Fields.texts(body, "tags"));
    List<String> attributes = new ArrayList<>();
    Json.Obj given = Fields.object(body, "attributes");
    given.members().forEach((key, value) -> attributes.add(key + "=" + Fields.text(value)));
    line("attributes", attributes);
    say("children: " + amount(body, "children") + ", leaves: " + amount(body, "leaves"));
    reserved(Fields.object(body, "reserved"));
    resources(body);
    holders(body);
    jobs(body);
  }

  private void line(String name, List<String> values) {
    if (!values.isEmpty()) {
      say(name + ": " + String.join(", ", values));
    }
  }

  /** A number, or of a list how long it is. */
  private static long amount(Json.Obj body, String key) {
    return body.get(key) instanceof Json.Arr list ? list.items().size() : Fields.number(body, key);
  }

  private void reserved(Json.Obj reserved) {
    if (!reserved.isEmpty()) {
      String task = Fields.text(reserved, "task");
      say(
          "kept free for: "
              + Fields.text(reserved, "job")
              + (task.isEmpty() ? "" : " on " + task)
              + " since "
              + Screen.time(Fields.number(reserved, "since_ms"))
              + ", idle slots: "
              + Fields.number(reserved, "idle_slots"));
    }
  }

  private void resources(Json.Obj body) {
    Table table = new Table("RESOURCE", ">USED", ">LIMIT", "?>CONFIGURED");
    for (Json.Obj resource : Fields.objects(body, "resources")) {
      long limit = Fields.number(resource, "limit");
      boolean other =
          resource.get("configured") != null && Fields.number(resource, "configured") != limit;
      table.row(
          Fields.text(resource, "resource"),
          Fields.number(resource, "used"),
          limit,
          other ? Fields.number(resource, "configured") : "");
    }
    part(table);
  }

  private void holders(Json.Obj body) {
    Table table = new Table("HELD BY", "ON", "?RESOURCE", "?>SLOTS", "SINCE");
    for (Json.Obj holder : Fields.objects(body, "holders")) {
      table.row(
          Fields.text(holder, "job"),
          Fields.text(holder, "node"),
          Fields.text(holder, "resource"),
          Fields.text(holder, "slots"),
          Screen.time(Fields.number(holder, "since_ms")));
    }
    part(table);
  }

  private void jobs(Json.Obj body) {
    Table table =
        new Table("JOB", ">DONE", ">RUNNING", ">READY", ">WAITING", ">FAILED")
            .paint("FAILED", Paint::ofTrouble);
    for (Json.Obj job : Fields.objects(body, "jobs")) {
      Json.Obj states = Fields.object(job, "states");
      table.row(
          Fields.text(job, "job"),
          Fields.number(states, "done"),
          Fields.number(states, "running"),
          Fields.number(states, "ready"),
          Fields.number(states, "waiting"),
          Fields.number(states, "failed"));
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
