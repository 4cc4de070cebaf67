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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands on quarantines. */
public final class QuarantineCommands {
  private QuarantineCommands() {}

  /** {@code quarantines}: lists quarantines and suggestions. */
  @Command(
      name = "quarantines",
      mixinStandardHelpOptions = true,
      description = "List the nodes that are quarantined, or suggested to be, because tasks fail.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier quarantines", "  espalier quarantines --json"})
  public static final class Quarantines extends ListCommand {
    public Quarantines(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.QUARANTINES, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table("NODE", "JOB", "STATE", "~SINCE", ">TRIALS", "~NEXT TRIAL", "WHO", "WHY");
      for (Json.Obj each : JsonFields.objects(body, "quarantines")) {
        String job = JsonFields.text(each, "job");
        table.row(
            JsonFields.text(each, "level") + " " + JsonFields.text(each, "node"),
            job.isEmpty() ? "(all)" : job,
            JsonFields.isTrue(each, "suggested") ? "suggested" : "closed",
            HumanFormat.time(JsonFields.number(each, "set_at_ms")),
            each.get("trials") == null ? "" : Long.toString(JsonFields.number(each, "trials")),
            HumanFormat.time(JsonFields.number(each, "next_trial_at_ms")),
            JsonFields.text(each, "author"),
            JsonFields.text(each, "reason"));
      }
      print(table, "no node is quarantined");
    }
  }

  /** Which node, and for which job. */
  abstract static class QuarantineChange extends ClientCommand {
    @Parameters(paramLabel = "NODE", description = "The node, with everything below it.")
    private String node = "";

    @Option(
        names = "--level",
        paramLabel = "LEVEL",
        description = "Level of the node, if several levels have a node of that name.")
    private String level = "";

    @Option(
        names = "--job",
        paramLabel = "JOB",
        description = "Only for this job (default: for all jobs together).")
    private String job = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    QuarantineChange(CommandContext clients) {
      super(clients);
    }

    int send(Client client, String path, String done) {
      Json.Builder body = reason.body().put("node", node);
      if (!level.isEmpty()) {
        body.put("level", level);
      }
      if (!job.isEmpty()) {
        body.put("job", job);
      }
      Json.Obj now = client.call("POST", path, Map.of(), Map.of(), body.build());
      return answered(now, JsonFields.text(now, "words") + done);
    }
  }

  /** {@code quarantine}: closes a node for a job, or for all. */
  @Command(
      name = "quarantine",
      mixinStandardHelpOptions = true,
      description = {
        "Start nothing on a node and below it, until the quarantine is lifted.",
        "Running tasks go on. It survives restarts."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier quarantine db-17 --reason 'disk errors'",
        "  espalier quarantine db-17 --job backfill"
      })
  public static final class Quarantine extends QuarantineChange {
    public Quarantine(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return send(client, ApiV1.QUARANTINES, " is quarantined");
    }
  }

  /** {@code lift}: ends a quarantine. */
  @Command(
      name = "lift",
      mixinStandardHelpOptions = true,
      description = "End the quarantine of a node, or discard the suggestion of one.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier lift db-17", "  espalier lift db-17 --job backfill"})
  public static final class Lift extends QuarantineChange {
    public Lift(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return send(client, ApiV1.LIFT_QUARANTINE, " is not quarantined any more");
    }
  }
}
