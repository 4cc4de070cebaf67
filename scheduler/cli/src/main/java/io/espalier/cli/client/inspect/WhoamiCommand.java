package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Paths;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code whoami}: shows the identity and the role of the caller. */
@Command(
    name = "whoami",
    mixinStandardHelpOptions = true,
    description = "Say for whom the scheduler takes you, and what you may do.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier whoami"})
public final class WhoamiCommand extends ClientCommand {
  public WhoamiCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = get(client, Paths.ME, Map.of(), Map.of());
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
    say(JsonFields.text(body, "name") + ", " + role + ": " + may + known);
    return ExitCode.OK;
  }
}
