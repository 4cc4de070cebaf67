package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code set-limit LEVEL RESOURCE LIMIT}: overrides a limit at run time. */
@Command(
    name = "set-limit",
    mixinStandardHelpOptions = true,
    description = {
      "Set the limit of a resource, on one node or on all nodes of a level, over the configuration.",
      "It holds at once and over restarts. A limit below what is in use kills nothing."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier set-limit host concurrency 1 --for 2h --reason 'busy hour'",
      "  espalier set-limit rack uplink 0 --node rack7 --reason 'new switch'"
    })
public final class SetLimitCommand extends LimitCommand {
  @Parameters(index = "2", paramLabel = "LIMIT", description = "Slots; 0: nothing starts.")
  private long limit;

  @Option(
      names = "--for",
      paramLabel = "SPAN",
      converter = DurationConverter.class,
      description = "For 90s, 5m, 2h, 1d (default: until it is cleared).")
  private @Nullable Long seconds;

  public SetLimitCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if (limit < 0) {
      throw new ParameterException(spec().commandLine(), "LIMIT must be 0 or more");
    }
    Json.Builder asked = reason().put("limit", limit);
    if (seconds != null) {
      asked.put("expires_in_seconds", seconds);
    }
    Json.Obj body = call(client, "PUT", asked.build());
    if (json()) {
      print(body);
    } else {
      String span = seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000);
      say("the limit of " + target() + " is " + limit + span);
    }
    return ExitCode.OK;
  }
}
