package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code explain JOB NODE}: explains why a task is not running. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Say why a task is not running: every condition that fails, who holds what it needs, and the",
      "way from the root to its node with the limits on it."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier explain backup db17", "  espalier explain backup"})
public final class ExplainCommand extends ListCommand {
  private static final int HOLDERS = 5;

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NODE",
      description = "Name of the node; without it, all tasks that wait, counted by reason.")
  private String node = "";

  public ExplainCommand(CommandContext clients) {
    super(clients, new DataDirFlag());
  }

  @Override
  public Json.Obj ask(Client client) {
    return node.isEmpty()
        ? JobDetailCommands.Waiting.ask(client, job)
        : get(client, ApiV1.EXPLAIN, Map.of("job", job, "node", node), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    if (node.isEmpty()) {
      JobDetailCommands.Waiting.show(this, job, body);
    } else {
      showTask(body);
    }
  }

  private void showTask(Json.Obj body) {
    String verdict =
        JsonFields.isTrue(body, "startable")
            ? "; nothing keeps it from starting; it starts in the next round that reaches it"
            : isRunningOrDone(body) ? "" : "; it cannot start:";
    out()
        .println(
            HumanFormat.clean(
                JsonFields.text(body, "job")
                    + " on "
                    + JsonFields.text(body, "node")
                    + " is "
                    + JsonFields.text(body, "status")
                    + verdict));
    List<String> running = new ArrayList<>();
    TaskDetailPrinter.running(running, JsonFields.object(body, "running"));
    running.forEach(line -> say("  " + line));
    long eligible = JsonFields.number(body, "eligible_at_ms");
    if (eligible > 0) {
      say("its job, status and dependencies let it start since " + HumanFormat.time(eligible));
    }
    for (Json.Obj reason : JsonFields.objects(body, "reasons")) {
      say("  - " + JsonFields.text(reason, "message") + details(reason));
      holders(reason);
    }
    path(body);
    alternatives(body);
  }

  private static boolean isRunningOrDone(Json.Obj body) {
    return JsonFields.objects(body, "reasons").stream()
        .map(reason -> JsonFields.text(reason, "kind"))
        .anyMatch(kind -> kind.equals("already_running") || kind.equals("done"));
  }

  private void holders(Json.Obj reason) {
    List<Json.Obj> holders = JsonFields.objects(reason, "holders");
    for (Json.Obj holder : holders.subList(0, Math.min(HOLDERS, holders.size()))) {
      long end = JsonFields.number(holder, "expected_end_ms");
      long slots = JsonFields.number(holder, "slots");
      say(
          "      "
              + JsonFields.text(holder, "job")
              + " on "
              + JsonFields.text(holder, "node")
              + (slots > 1 ? " holds " + slots : " holds it")
              + " since "
              + HumanFormat.time(JsonFields.number(holder, "since_ms"))
              + (end > 0 ? ", should end " + HumanFormat.time(end) : ""));
    }
    long total = Math.max(holders.size(), JsonFields.number(reason, "holders_total"));
    if (total > HOLDERS) {
      say("      and " + (total - HOLDERS) + " more");
    }
    long free = JsonFields.number(reason, "free_at_ms");
    if (free > 0) {
      say("      enough should be free " + HumanFormat.time(free));
    }
  }

  /** Prints the path from the root to the node, one node per line, with its limits. */
  private void path(Json.Obj body) {
    List<Json.Obj> path = JsonFields.objects(body, "path");
    if (path.isEmpty()) {
      return;
    }
    out().println();
    String indent = "";
    for (Json.Obj step : path) {
      StringBuilder line = new StringBuilder(indent);
      line.append(indent.isEmpty() ? "" : "└─ ");
      line.append(JsonFields.text(step, "node"))
          .append("  ")
          .append(JsonFields.text(step, "level"));
      boolean disabled = step.get("enabled") != null && !JsonFields.isTrue(step, "enabled");
      line.append(disabled ? "  disabled" : "");
      for (Json.Obj resource : JsonFields.objects(step, "resources")) {
        line.append("  ")
            .append(JsonFields.text(resource, "resource"))
            .append(' ')
            .append(JsonFields.number(resource, "used"))
            .append('/')
            .append(JsonFields.number(resource, "limit"))
            .append(" +")
            .append(JsonFields.number(resource, "need"));
      }
      boolean blocks = JsonFields.isTrue(step, "blocks");
      String text = line.append(blocks ? "  <- blocks" : "").toString();
      out().println(painted(blocks ? AnsiStyle.RED : AnsiStyle.NONE, text));
      indent = indent.isEmpty() ? " " : indent + "   ";
    }
  }

  /** Prints the other places of the node, and what blocks the task there. */
  private void alternatives(Json.Obj body) {
    for (Json.Obj other : JsonFields.objects(body, "alternatives")) {
      String role = JsonFields.text(other, "role");
      List<String> reasons = JsonFields.texts(other, "reasons");
      out()
          .println(
              "also under "
                  + JsonFields.text(other, "parent")
                  + (role.isEmpty() ? "" : " as " + role)
                  + (reasons.isEmpty()
                      ? ": nothing keeps it from starting there"
                      : ": " + String.join("; ", reasons)));
    }
  }

  private static String details(Json.Obj reason) {
    StringBuilder details = new StringBuilder(" [").append(JsonFields.text(reason, "kind"));
    if (reason.get("resource") != null) {
      details
          .append(": needs ")
          .append(JsonFields.number(reason, "need"))
          .append(", free ")
          .append(JsonFields.number(reason, "free"))
          .append(" of ")
          .append(JsonFields.number(reason, "limit"));
    }
    long until = JsonFields.number(reason, "until_ms");
    if (until > 0) {
      details.append(" until ").append(HumanFormat.time(until));
    }
    return details.append(']').toString();
  }
}
