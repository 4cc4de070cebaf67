package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Paths;
import io.espalier.cli.client.ReasonOption;
import io.espalier.core.json.Json;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The common part of the commands that change one limit. */
public abstract class LimitCommand extends ClientCommand {
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

  public LimitCommand(CommandContext clients) {
    super(clients);
  }

  public Json.Builder reason() {
    return reason.body();
  }

  public String target() {
    return resource + " on " + (node.isEmpty() ? "every " + level : level + " " + node);
  }

  public Json.Obj call(Client client, String method, Json.Obj body) {
    return node.isEmpty()
        ? client.call(
            method, Paths.LEVEL_LIMIT, Map.of("level", level, "resource", resource), Map.of(), body)
        : client.call(
            method,
            Paths.NODE_LIMIT,
            Map.of("level", level, "resource", resource, "node", node),
            Map.of(),
            body);
  }
}
