package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Commands on probes. */
public final class ProbeCommands {
  private ProbeCommands() {}

  /** {@code probes}: lists the probes and the limits that they lower. */
  @Command(
      name = "probes",
      mixinStandardHelpOptions = true,
      description = "List the probes, and the limits that they lower.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier probes", "  espalier probes --json"})
  public static final class Probes extends ListCommand {
    public Probes(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.PROBES, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table("PROBE", "LEVEL", "NODE", "RESOURCE", ">LIMIT", ">OF", "~LATEST", "WHY");
      for (Json.Obj probe : JsonFields.objects(body, "probes")) {
        String name = JsonFields.text(probe, "name");
        String level = JsonFields.text(probe, "level");
        String problem = JsonFields.text(probe, "problem");
        table.row(
            name,
            level,
            JsonFields.number(probe, "fresh")
                + " of "
                + JsonFields.number(probe, "nodes")
                + " known, "
                + JsonFields.number(probe, "bad")
                + " bad",
            "",
            "",
            "",
            HumanFormat.time(JsonFields.number(probe, "answered_at_ms")),
            problem);
        for (Json.Obj lowered : JsonFields.objects(probe, "lowered")) {
          table.row(
              name,
              level,
              JsonFields.text(lowered, "node"),
              JsonFields.text(lowered, "resource"),
              JsonFields.number(lowered, "limit"),
              JsonFields.number(lowered, "of"),
              "",
              JsonFields.text(lowered, "reason"));
        }
      }
      print(table, "there are no probes: the settings have no \"probes\"");
    }
  }

  /** {@code probe PROBE NODE VALUE}: sends the value of a node. */
  @Command(
      name = "probe",
      mixinStandardHelpOptions = true,
      description = "Send the value of a node to a probe whose source is push.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier probe lag db-17 7.2"})
  public static final class Probe extends ClientCommand {
    @Parameters(index = "0", paramLabel = "PROBE", description = "The name of the probe.")
    private String probe = "";

    @Parameters(index = "1", paramLabel = "NODE", description = "The name of the node.")
    private String node = "";

    @Parameters(index = "2", paramLabel = "VALUE", description = "The value, a number.")
    private double value;

    @Mixin private final ReasonOption reason = new ReasonOption();

    public Probe(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (!Double.isFinite(value)) {
        throw misuse("the value must be a number");
      }
      Json.Obj how =
          client.call(
              "PUT",
              ApiV1.PUSH_PROBE,
              Map.of("probe", probe, "node", node),
              Map.of(),
              reason.body().put("value", value).build());
      return answered(
          how, "probe " + probe + " of " + node + " is " + JsonFields.text(how, "value"));
    }
  }
}
