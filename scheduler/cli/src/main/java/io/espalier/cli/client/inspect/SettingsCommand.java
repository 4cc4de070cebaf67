package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code settings}: shows the settings in force. */
@Command(
    name = "settings",
    mixinStandardHelpOptions = true,
    description = "Show the settings in force with every default made visible; secrets are hidden.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier settings", "  espalier settings --json | jq .effective.resources"})
public final class SettingsCommand extends OfflineCommand {
  public SettingsCommand(CommandContext clients) {
    super(clients);
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
