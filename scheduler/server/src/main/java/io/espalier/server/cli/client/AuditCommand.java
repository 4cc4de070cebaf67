package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code audit}: who changed what. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = "List what was changed or refused: who, when, what, why. Newest first.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier audit --limit 20", "  espalier audit --json --limit 1000"})
final class AuditCommand extends ClientCommand {
  private static final int PAGE = 1000;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "At most so many entries (default: ${DEFAULT-VALUE}).")
  private int limit = 50;

  @Mixin private final Watch watch = new Watch();

  AuditCommand(Clients clients) {
    super(clients);
  }

  @Override
  Watch watch() {
    return watch;
  }

  @Override
  int run(Client client) {
    if (limit < 1) {
      throw new ParameterException(spec().commandLine(), "--limit must be at least 1");
    }
    List<Json> entries = new ArrayList<>();
    String after = "";
    do {
      int page = Math.min(PAGE, limit - entries.size());
      Json.Obj body =
          get(
              client,
              Paths.AUDIT,
              Map.of(),
              Map.of("after", optional(after), "limit", List.of(Integer.toString(page))));
      entries.addAll(Fields.objects(body, "entries"));
      after = Fields.text(body, "next");
    } while (!after.isEmpty() && entries.size() < limit);
    Json.Obj all = Json.object().put("entries", new Json.Arr(entries)).put("next", after).build();
    if (json()) {
      print(all);
      return ExitCode.OK;
    }
    Table table =
        new Table("WHEN", "WHO", "?~ROLE", "?~FROM", "DID", "TO", ">STATUS", "?WHY", "?~DETAILS");
    for (Json.Obj entry : Fields.objects(all, "entries")) {
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
    if (!after.isEmpty()) {
      remark("there are older entries; see --limit");
    }
    return ExitCode.OK;
  }
}
