package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that show the tasks of one job in groups. */
public final class JobDetailCommands {
  private JobDetailCommands() {}

  /** {@code levels JOB}: counts states per level. */
  @Command(
      name = "levels",
      mixinStandardHelpOptions = true,
      description = "Count, for each level of the tree, the nodes with tasks of a job by state.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier levels backup"})
  public static final class Levels extends ListCommand {
    @Parameters(paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    public Levels(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.LEVELS, Map.of("job", job), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
                  "LEVEL",
                  ">NODES",
                  ">DONE",
                  ">RUNNING",
                  ">READY",
                  ">WAITING",
                  ">FAILED",
                  "~>CANCELLED",
                  "~>BLOCKED",
                  "~>AVOIDED",
                  "~>DISABLED")
              .paint("FAILED", AnsiStyle::ofTrouble);
      for (Json.Obj level : JsonFields.objects(body, "levels")) {
        Json.Obj states = JsonFields.object(level, "states");
        table.row(
            JsonFields.text(level, "level"),
            JsonFields.number(level, "nodes"),
            JsonFields.number(states, "done"),
            JsonFields.number(states, "running"),
            JsonFields.number(states, "ready"),
            JsonFields.number(states, "waiting"),
            JsonFields.number(states, "failed"),
            JsonFields.number(states, "cancelled"),
            JsonFields.number(states, "blocked"),
            JsonFields.number(states, "avoided"),
            JsonFields.number(states, "disabled"));
      }
      print(table, "there are no levels");
    }
  }

  /** {@code waiting JOB}: counts the reasons why tasks do not run. */
  @Command(
      name = "waiting",
      mixinStandardHelpOptions = true,
      description = "Count the tasks of a job that do not run by what keeps them.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier waiting backup", "  espalier waiting backup --watch 5"})
  public static final class Waiting extends ListCommand {
    @Parameters(paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    public Waiting(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      return ask(client, job);
    }

    @Override
    public void show(Json.Obj body) {
      show(this, job, body);
    }

    static Json.Obj ask(Client client, String job) {
      return get(client, ApiV1.WAITING, Map.of("job", job), Map.of());
    }

    /** Prints the answer as part of another command. */
    static void show(ClientCommand command, String job, Json.Obj body) {
      Table table = new Table(">TASKS", "KIND", "?NODE", "?RESOURCE", "~SUCH AS", "?~UNTIL", "WHY");
      for (Json.Obj reason : JsonFields.objects(body, "reasons")) {
        List<String> samples = JsonFields.texts(reason, "samples");
        table.row(
            JsonFields.number(reason, "count"),
            JsonFields.text(reason, "kind"),
            JsonFields.text(reason, "node"),
            JsonFields.text(reason, "resource"),
            samples.isEmpty() ? "" : samples.get(0),
            reason.get("until_ms") == null
                ? ""
                : HumanFormat.time(JsonFields.number(reason, "until_ms")),
            JsonFields.text(reason, "message"));
      }
      long total = JsonFields.number(body, "total");
      long counted = JsonFields.number(body, "counted");
      command.print(table, "no task of " + job + " waits for anything");
      if (JsonFields.isTrue(body, "sampled")) {
        command.remark(
            "counted over a sample of "
                + counted
                + " of "
                + total
                + " tasks at "
                + HumanFormat.time(JsonFields.number(body, "at_ms")));
      }
    }
  }

  /** {@code failures JOB}: lists each cause of failures once. */
  @Command(
      name = "failures",
      mixinStandardHelpOptions = true,
      description = "List the ways in which tasks of a job fail, the most frequent first.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier failures backup",
        "  espalier tasks backup --fingerprint 5d41402abc4b2a76",
        "  espalier forgive backup --fingerprint 5d41402abc4b2a76"
      })
  public static final class Failures extends ListCommand {
    @Parameters(paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "20",
        description = "At most so many ways (default: ${DEFAULT-VALUE}).")
    private int limit = 20;

    public Failures(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(
          client,
          ApiV1.FAILURES,
          Map.of("job", job),
          Map.of("limit", List.of(Integer.toString(limit))));
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
                  "FINGERPRINT", ">TASKS", ">FAILED", "~>WAITING", "~NEWEST", "~SUCH AS", "MESSAGE")
              .paint("FAILED", AnsiStyle::ofTrouble);
      for (Json.Obj group : JsonFields.objects(body, "groups")) {
        List<String> samples = JsonFields.texts(group, "samples");
        table.row(
            JsonFields.text(group, "fingerprint"),
            JsonFields.number(group, "count"),
            JsonFields.number(group, "failed"),
            JsonFields.number(group, "waiting"),
            HumanFormat.time(JsonFields.number(group, "newest_ms")),
            samples.isEmpty() ? "" : samples.get(0),
            JsonFields.text(group, "message"));
      }
      print(table, "nothing has failed");
    }
  }
}
