package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code limits}: lists the limits that operators have set. */
@Command(
    name = "limits",
    mixinStandardHelpOptions = true,
    description = "List the limits that are set over those of the configuration, and until when.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier limits", "  espalier limits --json"})
public final class LimitsCommand extends ListCommand {
  public LimitsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, Paths.LIMITS, Map.of(), Map.of());
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
