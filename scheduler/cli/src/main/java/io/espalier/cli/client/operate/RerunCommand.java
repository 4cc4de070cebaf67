package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Paths;
import io.espalier.cli.client.SelectingCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code rerun JOB}: restarts chosen tasks from the beginning. */
@Command(
    name = "rerun",
    mixinStandardHelpOptions = true,
    description = {
      "Let chosen tasks of a job start from the beginning, done ones too: their status, attempts,",
      "back-off and data are forgotten, their history stays. What runs is left alone.",
      "On a terminal it says how many tasks that are, and asks."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier rerun backup --status failed --preview",
      "  espalier rerun backup --prefix rack7- --reason 'restored from tape'",
      "  espalier rerun backup --all --yes"
    })
public final class RerunCommand extends SelectingCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(names = "--yes", description = "Do not ask.")
  private boolean yes;

  public RerunCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if (nothingChosen()) {
      throw new ParameterException(
          spec().commandLine(),
          "say which tasks: --status, --prefix, --node, --fingerprint, or --all");
    }
    Long expected = expect();
    if (preview()) {
      return counted(post(client, Paths.RERUN, job, true));
    }
    if (!yes) {
      if (!viewport().asks()) {
        throw new CommandException(
            ExitCode.USAGE, "nobody can be asked here: say --yes, or look first with --preview");
      }
      Json.Obj found = post(client, Paths.RERUN, job, true);
      long matched = JsonFields.number(found, "matched");
      printMatches(job, found, "would start again");
      if (matched == 0) {
        return ExitCode.OK;
      }
      if (!confirmed("Run " + tasks(matched) + " again?")) {
        remark("nothing was changed");
        return ExitCode.FAILED;
      }
      // The command applies to the confirmed number of tasks; if others match meanwhile, it changes
      // nothing.
      expected = matched;
    }
    Json.Obj done = post(client, Paths.RERUN, job, false, expected);
    if (json()) {
      print(done);
    } else {
      say(job + ": " + tasks(JsonFields.number(done, "changed")) + " will run again");
    }
    return ExitCode.OK;
  }

  private int counted(Json.Obj found) {
    if (json()) {
      print(found);
    } else {
      printMatches(job, found, "would start again");
    }
    return ExitCode.OK;
  }
}
