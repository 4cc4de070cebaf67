package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code audit}: lists who changed what. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = "List what was changed or refused: who, when, what, why. Newest first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier audit --limit 20", "  espalier audit --json --limit 1000"})
public final class AuditCommand extends ListCommand {
  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "At most so many entries (default: ${DEFAULT-VALUE}).")
  private int limit = 50;

  public AuditCommand(CommandContext clients) {
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
                Paths.AUDIT,
                Map.of(),
                Map.of("after", optional(after), "limit", List.of(Integer.toString(size)))));
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
    print(table, "nothing was changed yet");
    if (!JsonFields.text(body, "next").isEmpty()) {
      remark("there are older entries; see --limit");
    }
  }
}
