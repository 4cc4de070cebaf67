package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code events}: prints recent events and follows new ones. */
@Command(
    name = "events",
    mixinStandardHelpOptions = true,
    description = "Print recent events; with --follow, events as they happen.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier events --limit 20", "  espalier events --follow --json"})
public final class EventsCommand extends ClientCommand {
  @Option(
      names = "--follow",
      description = "Print events as they happen, until interrupted; with --json one a line.")
  private boolean follow;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many recent events (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  public EventsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if (follow) {
      client.follow(this::printed);
      return ExitCode.OK;
    }
    Json.Obj body =
        get(client, ApiV1.EVENTS, Map.of(), Map.of("limit", List.of(Integer.toString(limit))));
    if (json()) {
      print(body);
    } else {
      JsonFields.objects(body, "events").forEach(this::printed);
    }
    return ExitCode.OK;
  }

  /** Prints an event; returns false when the reader has closed the pipe. */
  private boolean printed(Json.Obj event) {
    if (json()) {
      print(event);
    } else if (event.get("sequence") == null) {
      remark("events after " + JsonFields.number(event, "after") + " were lost");
    } else {
      out()
          .println(
              HumanFormat.clean(
                  HumanFormat.time(JsonFields.number(event, "time_ms"))
                      + "  "
                      + JsonFields.text(event, "kind")
                      + "  "
                      + JsonWriter.compact(JsonFields.object(event, "data"))));
    }
    return !out().checkError();
  }
}
