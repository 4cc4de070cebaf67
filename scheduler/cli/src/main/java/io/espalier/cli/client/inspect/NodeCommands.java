package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that show the tree. */
public final class NodeCommands {
  private NodeCommands() {}

  private static Object blocked(Json.Obj states) {
    long blocked = JsonFields.number(states, "blocked");
    return blocked == 0 ? "" : blocked;
  }

  /** Returns one property of each thing that closes a node, such as a brake. */
  private static Set<String> closed(Json.Obj node, String property) {
    Set<String> closed = new LinkedHashSet<>();
    for (Json.Obj reason : JsonFields.objects(node, "closed")) {
      closed.add(JsonFields.text(reason, property));
    }
    return closed;
  }

  /** {@code tree [NODE]}: draws the nodes of a running scheduler, with their limits and tasks. */
  @Command(
      name = "tree",
      mixinStandardHelpOptions = true,
      description = "Draw the tree below a node: use of its limits, and its tasks by state.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier tree --depth 1",
        "  espalier tree rack7 --job backup",
        "  espalier tree --watch"
      })
  public static final class Tree extends ListCommand {
    @Parameters(
        arity = "0..1",
        paramLabel = "NODE",
        description = "Where to begin (default: the instance).")
    private String root = "";

    @Option(
        names = "--level",
        paramLabel = "LEVEL",
        description = "Level of NODE, if several have one of that name.")
    private String level = "";

    @Option(names = "--job", paramLabel = "JOB", description = "Count only tasks of this job.")
    private String job = "";

    @Option(names = "--depth", paramLabel = "N", description = "Only so many levels below NODE.")
    private @Nullable Integer depth;

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "200",
        description = "At most so many nodes (default: ${DEFAULT-VALUE}).")
    private int limit = 200;

    public Tree(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      Map<String, List<String>> query = new HashMap<>();
      query.put("root", optional(root));
      query.put("level", optional(level));
      query.put("job", optional(job));
      query.put("depth", depth == null ? List.of() : List.of(depth.toString()));
      query.put("limit", List.of(Integer.toString(limit)));
      return get(client, ApiV1.TREE, Map.of(), query);
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
                  "NODE",
                  "~LEVEL",
                  "?USE",
                  ">TASKS",
                  ">DONE",
                  ">RUNNING",
                  "~>READY",
                  "?~>BLOCKED",
                  "~>WAITING",
                  ">FAILED",
                  "~>CANCELLED")
              .paint("FAILED", AnsiStyle::ofTrouble);
      draw(JsonFields.objects(body, "nodes"), table);
      print(table, "there are no nodes");
      if (JsonFields.isTrue(body, "truncated")) {
        remark("there are more nodes; see --limit, --depth, or name a NODE");
      }
    }

    private static void draw(List<Json.Obj> nodes, Table table) {
      List<List<Integer>> children = new ArrayList<>();
      List<Integer> roots = new ArrayList<>();
      for (int i = 0; i < nodes.size(); i++) {
        children.add(new ArrayList<>());
        long parent =
            nodes.get(i).get("parent") == null ? -1 : JsonFields.number(nodes.get(i), "parent");
        // Breadth first: a parent always precedes its children.
        (parent >= 0 && parent < i ? children.get((int) parent) : roots).add(i);
      }
      for (int root : roots) {
        row(nodes, children, root, "", "", table);
      }
    }

    private static void row(
        List<Json.Obj> nodes,
        List<List<Integer>> children,
        int index,
        String branch,
        String indent,
        Table table) {
      Json.Obj node = nodes.get(index);
      Json.Obj states = JsonFields.object(node, "states");
      long total = 0;
      for (String state :
          new String[] {"done", "failed", "cancelled", "running", "waiting", "ready", "blocked"}) {
        total += JsonFields.number(states, state);
      }
      List<String> use = new ArrayList<>();
      for (Json.Obj resource : JsonFields.objects(node, "resources")) {
        use.add(
            JsonFields.text(resource, "resource")
                + " "
                + JsonFields.number(resource, "used")
                + "/"
                + JsonFields.number(resource, "limit"));
      }
      boolean disabled = node.get("enabled") != null && !JsonFields.isTrue(node, "enabled");
      String closed = String.join(", ", closed(node, "kind")).replace('_', ' ');
      String keptFor = JsonFields.text(JsonFields.object(node, "reserved"), "job");
      table.row(
          branch
              + JsonFields.text(node, "name")
              + (disabled ? " (disabled)" : "")
              + (closed.isEmpty() ? "" : " (closed: " + closed + ")")
              + (keptFor.isEmpty() ? "" : " (kept free for " + keptFor + ")"),
          JsonFields.text(node, "level"),
          String.join(", ", use),
          total,
          JsonFields.number(states, "done"),
          JsonFields.number(states, "running"),
          JsonFields.number(states, "ready"),
          blocked(states),
          JsonFields.number(states, "waiting"),
          JsonFields.number(states, "failed"),
          JsonFields.number(states, "cancelled"));
      List<Integer> below = children.get(index);
      for (int i = 0; i < below.size(); i++) {
        boolean last = i == below.size() - 1;
        row(
            nodes,
            children,
            below.get(i),
            indent + (last ? "└─ " : "├─ "),
            indent + (last ? "   " : "│  "),
            table);
      }
    }
  }

  /** {@code node LEVEL NODE}: shows one node of the tree. */
  @Command(
      name = "node",
      mixinStandardHelpOptions = true,
      description = "Show one node: where it hangs, its limits, who holds its slots, its tasks.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier node host db-host-7"})
  public static final class Node extends ListCommand {
    @Parameters(index = "0", paramLabel = "LEVEL", description = "Level of the node.")
    private String level = "";

    @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
    private String node = "";

    public Node(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.NODE, Map.of("level", level, "node", node), Map.of());
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
      closed(body, "message").forEach(message -> say("closed: " + message));
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
      Table table = new Table("RESOURCE", ">USED", ">LIMIT", "?>CONFIGURED", "?LOWERED");
      for (Json.Obj resource : JsonFields.objects(body, "resources")) {
        long limit = JsonFields.number(resource, "limit");
        boolean other =
            resource.get("configured") != null
                && JsonFields.number(resource, "configured") != limit;
        table.row(
            JsonFields.text(resource, "resource"),
            JsonFields.number(resource, "used"),
            limit,
            other ? JsonFields.number(resource, "configured") : "",
            JsonFields.text(resource, "lowered"));
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
          new Table(
                  "JOB",
                  ">DONE",
                  ">RUNNING",
                  ">READY",
                  "?>BLOCKED",
                  ">WAITING",
                  ">FAILED",
                  "~>CANCELLED")
              .paint("FAILED", AnsiStyle::ofTrouble);
      for (Json.Obj job : JsonFields.objects(body, "jobs")) {
        Json.Obj states = JsonFields.object(job, "states");
        table.row(
            JsonFields.text(job, "job"),
            JsonFields.number(states, "done"),
            JsonFields.number(states, "running"),
            JsonFields.number(states, "ready"),
            blocked(states),
            JsonFields.number(states, "waiting"),
            JsonFields.number(states, "failed"),
            JsonFields.number(states, "cancelled"));
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
}
