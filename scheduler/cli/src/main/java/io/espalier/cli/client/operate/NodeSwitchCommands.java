package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that switch a node off and on: by a brake that leaves nothing of its limits. */
public final class NodeSwitchCommands {
  private NodeSwitchCommands() {}

  /** The common part: a node, and a reason. */
  abstract static class NodeSwitch extends ClientCommand {
    @Parameters(index = "0", paramLabel = "LEVEL", description = "Level of the node.")
    private String level = "";

    @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
    private String node = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    NodeSwitch(CommandContext clients) {
      super(clients);
    }

    String target() {
      return level + " " + node;
    }

    Json.Builder body() {
      return reason.body().put("level", level).put("node", node);
    }
  }

  /** {@code node disable LEVEL NODE}: starts nothing on a node and below it. */
  @Command(
      name = "disable",
      mixinStandardHelpOptions = true,
      description = {
        "Start nothing on a node and below it, from now on and over restarts. Running tasks go on.",
        "It is a brake: espalier brakes lists it, with who set it and why."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier node disable host db7 --reason 'new disks'",
        "  espalier node disable rack rack7 --for 2h"
      })
  public static final class Disable extends NodeSwitch {
    @Option(
        names = "--for",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description = "For 90s, 5m, 2h, 1d (default: until it is enabled).")
    private @Nullable Long seconds;

    public Disable(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Builder asked = body().put("factor", 0);
      if (seconds != null) {
        asked.put("expires_in_seconds", seconds);
      }
      Json.Obj set = client.call("POST", ApiV1.BRAKES, Map.of(), Map.of(), asked.build());
      String span = seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000);
      return answered(set, target() + " is disabled" + span + ": nothing starts there");
    }
  }

  /** {@code node enable LEVEL NODE}: ends what disable has begun. */
  @Command(
      name = "enable",
      mixinStandardHelpOptions = true,
      description = "End what disable has begun: tasks start on the node again.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier node enable host db7"})
  public static final class Enable extends NodeSwitch {
    public Enable(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj now = client.call("POST", ApiV1.RELEASE_BRAKE, Map.of(), Map.of(), body().build());
      return answered(now, target() + " is enabled");
    }
  }
}
