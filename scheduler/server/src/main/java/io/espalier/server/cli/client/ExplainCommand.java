package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code explain JOB NODE}: why a task is not running. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Say why a task is not running: every condition that fails, who holds what it needs, and the",
      "way from the root to its node with the limits on it."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier explain backup db17", "  espalier explain backup"})
final class ExplainCommand extends OfflineListCommand {
  private static final int HOLDERS = 5;

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NODE",
      description = "Name of the node; without it, all tasks that wait, counted by reason.")
  private String node = "";

  ExplainCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return node.isEmpty()
        ? WaitingCommand.ask(client, job)
        : get(client, ApiV1.EXPLAIN, Map.of("job", job, "node", node), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    if (node.isEmpty()) {
      WaitingCommand.show(this, job, body);
    } else {
      showTask(body);
    }
  }

  private void showTask(Json.Obj body) {
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
      say("  - " + Fields.text(reason, "message") + details(reason));
      holders(reason);
    }
    path(body);
    alternatives(body);
  }

  private void holders(Json.Obj reason) {
    List<Json.Obj> holders = Fields.objects(reason, "holders");
    for (Json.Obj holder : holders.subList(0, Math.min(HOLDERS, holders.size()))) {
      long end = Fields.number(holder, "expected_end_ms");
      long slots = Fields.number(holder, "slots");
      say(
          "      "
              + Fields.text(holder, "job")
              + " on "
              + Fields.text(holder, "node")
              + (slots > 1 ? " holds " + slots : " holds it")
              + " since "
              + Screen.time(Fields.number(holder, "since_ms"))
              + (end > 0 ? ", should end " + Screen.time(end) : ""));
    }
    long total = Math.max(holders.size(), Fields.number(reason, "holders_total"));
    if (total > HOLDERS) {
      say("      and " + (total - HOLDERS) + " more");
    }
    long free = Fields.number(reason, "free_at_ms");
    if (free > 0) {
      say("      enough should be free " + Screen.time(free));
    }
  }

  /** The way from the root to the node, one line each, with the limits on it. */
  private void path(Json.Obj body) {
    List<Json.Obj> path = Fields.objects(body, "path");
    if (path.isEmpty()) {
      return;
    }
    out().println();
    String indent = "";
    for (Json.Obj step : path) {
      StringBuilder line = new StringBuilder(indent);
      line.append(indent.isEmpty() ? "" : "└─ ");
      line.append(Fields.text(step, "node")).append("  ").append(Fields.text(step, "level"));
      boolean disabled = step.get("enabled") != null && !Fields.isTrue(step, "enabled");
      line.append(disabled ? "  disabled" : "");
      for (Json.Obj resource : Fields.objects(step, "resources")) {
        line.append("  ")
            .append(Fields.text(resource, "resource"))
            .append(' ')
            .append(Fields.number(resource, "used"))
            .append('/')
            .append(Fields.number(resource, "limit"))
            .append(" +")
            .append(Fields.number(resource, "need"));
      }
      boolean blocks = Fields.isTrue(step, "blocks");
      String text = line.append(blocks ? "  <- blocks" : "").toString();
      out().println(painted(blocks ? Paint.RED : Paint.NONE, text));
      indent = indent.isEmpty() ? " " : indent + "   ";
    }
  }

  /** The other places of the node, and what is in the way there. */
  private void alternatives(Json.Obj body) {
    for (Json.Obj other : Fields.objects(body, "alternatives")) {
      String role = Fields.text(other, "role");
      List<String> reasons = Fields.texts(other, "reasons");
      out()
          .println(
              "also under "
                  + Fields.text(other, "parent")
                  + (role.isEmpty() ? "" : " as " + role)
                  + (reasons.isEmpty()
                      ? ": nothing stands in the way there"
                      : ": " + String.join("; ", reasons)));
    }
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
