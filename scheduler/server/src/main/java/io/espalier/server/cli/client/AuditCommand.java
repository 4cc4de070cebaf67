package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code audit}: who changed what. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = "List what was changed or refused: who, when, what, why. Newest first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier audit --limit 20", "  espalier audit --json --limit 1000"})
final class AuditCommand extends ListCommand {
  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "At most so many entries (default: ${DEFAULT-VALUE}).")
  private int limit = 50;

  AuditCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return pages(
        "entries",
        limit,
        (after, size) ->
            get(
                client,
                Paths.AUDIT,
                Map.of(),
                Map.of("after", optional(after), "limit", List.of(Integer.toString(size)))));
  }

  @Override
  void show(Json.Obj body) {
    Table table =
        new Table("WHEN", "WHO", "?~ROLE", "?~FROM", "DID", "TO", ">STATUS", "?WHY", "?~DETAILS");
    for (Json.Obj entry : Fields.objects(body, "entries")) {
      Json details = entry.get("details");
      table.row(
          Screen.time(Fields.number(entry, "at_ms")),
          Fields.text(entry, "who"),
          Fields.text(entry, "role"),
          Fields.text(entry, "address"),
          Fields.text(entry, "action"),
          Fields.text(entry, "target"),
          Fields.text(entry, "status"),
          Fields.text(entry, "reason"),
          details instanceof Json.Obj object && object.isEmpty()
              ? ""
              : Fields.text(entry, "details"));
    }
    print(table, "nothing was changed yet");
    if (!Fields.text(body, "next").isEmpty()) {
      remark("there are older entries; see --limit");
    }
  }
}
