package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands on the limits that operators set. */
public final class LimitCommands {
  private LimitCommands() {}

  /** {@code limits}: lists the limits that operators have set. */
  @Command(
      name = "limits",
      mixinStandardHelpOptions = true,
      description = "List the limits that are set over those of the configuration, and until when.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier limits", "  espalier limits --json"})
  public static final class Limits extends ListCommand {
    public Limits(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.LIMITS, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
              "LEVEL", "RESOURCE", "NODE", ">LIMIT", ">CONFIGURED", "UNTIL", "~SET", "WHO", "WHY");
      for (Json.Obj limit : JsonFields.objects(body, "overrides")) {
        String node = JsonFields.text(limit, "node");
        table.row(
            JsonFields.text(limit, "level"),
            JsonFields.text(limit, "resource"),
            node.isEmpty() ? "(all)" : node,
            JsonFields.number(limit, "limit"),
            limit.get("configured") == null ? "-" : JsonFields.number(limit, "configured"),
            HumanFormat.time(JsonFields.number(limit, "expires_at_ms")),
            HumanFormat.time(JsonFields.number(limit, "set_at_ms")),
            JsonFields.text(limit, "author"),
            JsonFields.text(limit, "reason"));
      }
      print(table, "all limits are those of the configuration");
    }
  }

  /** The common part of the commands that change one limit. */
  abstract static class LimitChange extends ClientCommand {
    @Parameters(index = "0", paramLabel = "LEVEL", description = "Level of the node or nodes.")
    private String level = "";

    @Parameters(index = "1", paramLabel = "RESOURCE", description = "Name of the resource.")
    private String resource = "";

    @Option(
        names = "--node",
        paramLabel = "NODE",
        description = "Only on this node (default: on all of the level).")
    private String node = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    LimitChange(CommandContext clients) {
      super(clients);
    }

    Json.Builder reason() {
      return reason.body();
    }

    String target() {
      return resource + " on " + (node.isEmpty() ? "every " + level : level + " " + node);
    }

    Json.Obj call(Client client, String method, Json.Obj body) {
      return node.isEmpty()
          ? client.call(
              method,
              ApiV1.LIMIT_OF_LEVEL,
              Map.of("level", level, "resource", resource),
              Map.of(),
              body)
          : client.call(
              method,
              ApiV1.LIMIT_OF_NODE,
              Map.of("level", level, "resource", resource, "node", node),
              Map.of(),
              body);
    }
  }

  /** {@code set-limit LEVEL RESOURCE LIMIT}: overrides a limit at run time. */
  @Command(
      name = "set-limit",
      mixinStandardHelpOptions = true,
      description = {
        "Set the limit of a resource, on one node or on all nodes of a level, over the configuration.",
        "It applies at once and over restarts. A limit below what is in use kills nothing."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier set-limit host concurrency 1 --for 2h --reason 'busy hour'",
        "  espalier set-limit rack uplink 0 --node rack7 --reason 'new switch'"
      })
  public static final class SetLimit extends LimitChange {
    @Parameters(index = "2", paramLabel = "LIMIT", description = "Slots; 0: nothing starts.")
    private long limit;

    @Option(
        names = "--for",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description = "For 90s, 5m, 2h, 1d (default: until it is cleared).")
    private @Nullable Long seconds;

    public SetLimit(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (limit < 0) {
        throw misuse("LIMIT must be 0 or more");
      }
      Json.Builder asked = reason().put("limit", limit);
      if (seconds != null) {
        asked.put("expires_in_seconds", seconds);
      }
      Json.Obj body = call(client, "PUT", asked.build());
      String span = seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000);
      return answered(body, "the limit of " + target() + " is " + limit + span);
    }
  }

  /** {@code clear-limit LEVEL RESOURCE}: restores the limit of the configuration. */
  @Command(
      name = "clear-limit",
      mixinStandardHelpOptions = true,
      description = "Take back what set-limit has set: the configuration's limit applies again.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier clear-limit host concurrency",
        "  espalier clear-limit rack uplink --node rack7"
      })
  public static final class ClearLimit extends LimitChange {
    public ClearLimit(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = call(client, "DELETE", reason().build());
      return answered(body, "the limit of " + target() + " is what the configuration says");
    }
  }
}
