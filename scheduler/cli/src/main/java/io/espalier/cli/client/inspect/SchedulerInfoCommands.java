package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands that show the scheduler itself. */
public final class SchedulerInfoCommands {
  private SchedulerInfoCommands() {}

  /** {@code problems}: lists the current problems. */
  @Command(
      name = "problems",
      mixinStandardHelpOptions = true,
      description = "List what is wrong now: with the configuration, node sources, store, workers.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier problems", "  espalier problems --watch 10"})
  public static final class Problems extends ListCommand {
    public Problems(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.PROBLEMS, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      List<Json.Obj> errors = JsonFields.objects(body, "errors");
      List<Json.Obj> problems = JsonFields.objects(body, "problems");
      for (Json.Obj error : errors) {
        out()
            .println(
                painted(AnsiStyle.RED, "error")
                    + HumanFormat.clean(
                        " in "
                            + JsonFields.text(error, "source")
                            + since(error)
                            + ": "
                            + JsonFields.text(error, "message")));
      }
      problems.forEach(problem -> say(sentence(problem)));
      if (body.get("config_in_force") != null && !JsonFields.isTrue(body, "config_in_force")) {
        say("no configuration is in force: nothing starts");
      }
      if (errors.isEmpty() && problems.isEmpty()) {
        remark("nothing is wrong");
      }
    }

    private static String since(Json.Obj problem) {
      long since = JsonFields.number(problem, "since_ms");
      return since > 0 ? " since " + HumanFormat.time(since) : "";
    }

    /** Formats one problem of a configuration: position, message, expected value, hint. */
    public static String sentence(Json.Obj problem) {
      StringBuilder text = new StringBuilder(JsonFields.text(problem, "severity"));
      String path = JsonFields.text(problem, "path");
      text.append(path.isEmpty() ? "" : " at " + path);
      if (JsonFields.number(problem, "line") > 0) {
        String file = JsonFields.text(problem, "file");
        text.append(" (").append(file.isEmpty() ? "" : file + ", ");
        text.append("line ").append(JsonFields.number(problem, "line")).append(')');
      }
      text.append(since(problem)).append(": ").append(JsonFields.text(problem, "message"));
      String value = JsonFields.text(problem, "value");
      text.append(value.isEmpty() ? "" : " (value: " + value + ")");
      add(text, "; expected: ", JsonFields.text(problem, "expected"));
      add(text, "; ", JsonFields.text(problem, "hint"));
      return text.toString();
    }

    private static void add(StringBuilder text, String before, String what) {
      if (!what.isEmpty()) {
        text.append(before).append(what);
      }
    }
  }

  /** {@code settings}: shows the settings in force. */
  @Command(
      name = "settings",
      mixinStandardHelpOptions = true,
      description =
          "Show the settings in force with every default made visible; secrets are hidden.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier settings", "  espalier settings --json | jq .effective.resources"})
  public static final class Settings extends ClientCommand {
    public Settings(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public int run(Client client) {
      Json.Obj body = get(client, ApiV1.SETTINGS, Map.of(), Map.of());
      if (json()) {
        print(body);
        return ExitCode.OK;
      }
      Table table = new Table("SETTING", "VALUE");
      rows("", body, table);
      print(table, "there are no settings");
      return ExitCode.OK;
    }

    private static void rows(String path, Json.Obj object, Table table) {
      for (Map.Entry<String, Json> member : object.members().entrySet()) {
        String name = path.isEmpty() ? member.getKey() : path + "." + member.getKey();
        if (member.getValue() instanceof Json.Obj inner && !inner.isEmpty()) {
          rows(name, inner, table);
        } else {
          table.row(name, JsonFields.text(member.getValue()));
        }
      }
    }
  }

  /** {@code queues}: lists the queues that share the tree. */
  @Command(
      name = "queues",
      mixinStandardHelpOptions = true,
      description =
          "List the queues: slots held of what they may hold, what they have used lately, and the"
              + " share of starts that is due to each under the policy fair_share.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier queues", "  espalier queues --watch"})
  public static final class Queues extends ListCommand {
    private static final MathContext SHOWN = new MathContext(3);

    public Queues(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.QUEUES, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
              "QUEUE",
              ">FACTOR",
              "~>WEIGHT",
              ">RUNNING",
              ">WAITING",
              "SLOTS",
              ">USE",
              ">LATELY",
              ">EFFECTIVE",
              ">SHARE");
      for (Json.Obj queue : JsonFields.objects(body, "queues")) {
        table.row(
            JsonFields.text(queue, "name"),
            number(queue, "priority_factor"),
            queue.get("weight") == null ? "" : number(queue, "weight"),
            JsonFields.number(queue, "running"),
            JsonFields.text(queue, "waiting_tasks"),
            slots(queue),
            percent(queue, "use"),
            percent(queue, "current_priority"),
            number(queue, "effective_priority"),
            percent(queue, "share"));
      }
      print(table, "there are no queues");
    }

    private static BigDecimal value(Json.Obj queue, String key) {
      return queue.get(key) instanceof Json.Num number ? number.value() : BigDecimal.ZERO;
    }

    private static String number(Json.Obj queue, String key) {
      return value(queue, key).round(SHOWN).stripTrailingZeros().toString();
    }

    private static String percent(Json.Obj queue, String key) {
      BigDecimal percent = value(queue, key).movePointRight(2).round(SHOWN);
      // Less than a thousandth of a per cent is shown as zero.
      boolean none = percent.compareTo(new BigDecimal("0.001")) < 0;
      return (none ? "0" : percent.stripTrailingZeros().toPlainString()) + " %";
    }

    /** Returns the slots in use, of the queue's limit or of all slots. */
    private static String slots(Json.Obj queue) {
      List<String> parts = new ArrayList<>();
      Json.Obj resources = JsonFields.object(queue, "resources");
      for (String resource : resources.members().keySet()) {
        Json.Obj of = JsonFields.object(resources, resource);
        String most = of.get("cap") == null ? "total" : "cap";
        parts.add(
            resource + " " + JsonFields.number(of, "held") + "/" + JsonFields.number(of, most));
      }
      return String.join(", ", parts);
    }
  }

  /** {@code audit}: lists who changed what. */
  @Command(
      name = "audit",
      mixinStandardHelpOptions = true,
      description = "List what was changed or refused: who, when, what, why. Newest first.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier audit --limit 20",
        "  espalier audit --who ann --action pause",
        "  espalier audit --json --limit 1000"
      })
  public static final class Audit extends ListCommand {
    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "50",
        description = "At most so many entries (default: ${DEFAULT-VALUE}).")
    private int limit = 50;

    @Option(names = "--who", paramLabel = "NAME", description = "Only what this caller did.")
    private String who = "";

    @Option(
        names = "--action",
        paramLabel = "ACTION",
        description = "Only this, as column DID shows it, such as pause or 'put jobs'.")
    private String action = "";

    @Option(
        names = "--target",
        paramLabel = "TARGET",
        description = "Only this, as column TO shows it: a job, or a part of it with JOB/NODE.")
    private String target = "";

    public Audit(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return pages(
          "entries",
          limit,
          (after, size) ->
              get(
                  client,
                  ApiV1.AUDIT,
                  Map.of(),
                  Map.of(
                      "after", optional(after),
                      "limit", List.of(Integer.toString(size)),
                      "who", optional(who),
                      "action", optional(action),
                      "target", optional(target))));
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table("WHEN", "WHO", "?~ROLE", "?~FROM", "DID", "TO", ">STATUS", "?WHY", "?~DETAILS");
      for (Json.Obj entry : JsonFields.objects(body, "entries")) {
        Json details = entry.get("details");
        table.row(
            HumanFormat.time(JsonFields.number(entry, "at_ms")),
            JsonFields.text(entry, "who"),
            JsonFields.text(entry, "role"),
            JsonFields.text(entry, "address"),
            JsonFields.text(entry, "action"),
            JsonFields.text(entry, "target"),
            JsonFields.text(entry, "status"),
            JsonFields.text(entry, "reason"),
            details instanceof Json.Obj object && object.isEmpty()
                ? ""
                : JsonFields.text(entry, "details"));
      }
      boolean all = who.isEmpty() && action.isEmpty() && target.isEmpty();
      print(table, all ? "nothing was changed yet" : "there are no such entries");
      if (!JsonFields.text(body, "next").isEmpty()) {
        remark("there are older entries; see --limit");
      }
    }
  }

  /** {@code whoami}: shows the identity and the role of the caller. */
  @Command(
      name = "whoami",
      mixinStandardHelpOptions = true,
      description = "Say for whom the scheduler takes you, and what you may do.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier whoami"})
  public static final class Whoami extends ClientCommand {
    public Whoami(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = get(client, ApiV1.ME, Map.of(), Map.of());
      if (json()) {
        print(body);
        return ExitCode.OK;
      }
      String role = JsonFields.text(body, "role");
      String may =
          switch (role) {
            case "viewer" -> "may look";
            case "operator" -> "may look and steer";
            case "admin" -> "may do everything";
            default -> "may do what its role allows";
          };
      String known =
          JsonFields.isTrue(body, "authenticated") ? "" : " (nobody has to say who they are)";
      List<String> queues = JsonFields.texts(body, "operates_queues");
      String also = queues.isEmpty() ? "" : ", and steer the jobs in " + String.join(", ", queues);
      say(JsonFields.text(body, "name") + ", " + role + ": " + may + also + known);
      return ExitCode.OK;
    }
  }
}
