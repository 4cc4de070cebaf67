package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code limits}: which limits operators have set. */
@Command(
    name = "limits",
    mixinStandardHelpOptions = true,
    description = "List the limits that are set over those of the configuration, and until when.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier limits", "  espalier limits --json"})
final class LimitsCommand extends ListCommand {
  LimitsCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, Paths.LIMITS, Map.of(), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    Table table =
        new Table(
            "LEVEL", "RESOURCE", "NODE", ">LIMIT", ">CONFIGURED", "UNTIL", "~SET", "WHO", "WHY");
    for (Json.Obj limit : Fields.objects(body, "overrides")) {
      String node = Fields.text(limit, "node");
      table.row(
          Fields.text(limit, "level"),
          Fields.text(limit, "resource"),
          node.isEmpty() ? "(all)" : node,
          Fields.number(limit, "limit"),
          limit.get("configured") == null ? "-" : Fields.number(limit, "configured"),
          Screen.time(Fields.number(limit, "expires_at_ms")),
          Screen.time(Fields.number(limit, "set_at_ms")),
          Fields.text(limit, "author"),
          Fields.text(limit, "reason"));
    }
    print(table, "all limits are those of the configuration");
  }
}
