package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Commands on the leader of a group of schedulers. */
public final class LeaderCommands {
  private LeaderCommands() {}

  /** {@code leadership}: shows the leader. */
  @Command(
      name = "leadership",
      mixinStandardHelpOptions = true,
      description = "Say which scheduler of a group leads, and which stand by.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier leadership", "  espalier leadership --zookeeper zk1:2181/espalier"})
  public static final class Leadership extends ListCommand {
    public Leadership(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.LEADERSHIP, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      if (!JsonFields.isTrue(body, "elected")) {
        say("this scheduler is alone: no election");
        return;
      }
      Table table = new Table("SCHEDULER", "ROLE");
      String role = "leads";
      for (String candidate : JsonFields.texts(body, "candidates")) {
        table.row(candidate, role);
        role = "stands by";
      }
      print(table, "there are no candidates");
      say("epoch " + JsonFields.number(body, "epoch"));
      String problem = JsonFields.text(body, "problem");
      if (!problem.isEmpty()) {
        say(problem);
      }
    }
  }

  /** {@code step-down}: makes the leader hand over to another scheduler. */
  @Command(
      name = "step-down",
      mixinStandardHelpOptions = true,
      description = "Ask the scheduler that leads to let another one lead. Tasks go on.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier step-down --zookeeper zk1:2181/espalier --reason 'new kernel'"})
  public static final class StepDown extends ClientCommand {
    @Mixin private final ReasonOption reason = new ReasonOption();

    public StepDown(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body =
          client.call("POST", ApiV1.STEP_DOWN, Map.of(), Map.of(), reason.body().build());
      return answered(body, "it is stepping down");
    }
  }
}
