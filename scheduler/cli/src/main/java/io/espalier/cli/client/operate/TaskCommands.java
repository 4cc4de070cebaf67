package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that change single tasks. */
public final class TaskCommands {
  private TaskCommands() {}

  /** The common part: one task, and a reason. */
  abstract static class TaskCommand extends ClientCommand {
    @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Parameters(index = "1", paramLabel = "NODE", description = "Name of the node.")
    private String node = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    TaskCommand(CommandContext clients) {
      super(clients);
    }

    String task() {
      return job + " on " + node;
    }

    Json.Builder reason() {
      return reason.body();
    }

    Json.Obj post(Client client, String template, Json.Builder body) {
      return client.call(
          "POST", template, Map.of("job", job, "node", node), Map.of(), body.build());
    }
  }

  /** {@code kill JOB NODE}: stops a running task. */
  @Command(
      name = "kill",
      mixinStandardHelpOptions = true,
      description = "Signal a running task as its job's kill_subprocess says.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier kill backup db17 --reason 'stuck on a lock'"})
  public static final class Kill extends TaskCommand {
    public Kill(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return answered(post(client, ApiV1.KILL, reason()), task() + ": signaled");
    }
  }

  /** {@code extend JOB NODE SECONDS}: gives a running task more time. */
  @Command(
      name = "extend",
      mixinStandardHelpOptions = true,
      description = "Give a running task more time: moves its timeout and its deadline.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier extend backup db17 3600"})
  public static final class Extend extends TaskCommand {
    @Parameters(index = "2", paramLabel = "SECONDS", description = "How much longer it may take.")
    private double seconds;

    public Extend(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (!(seconds > 0 && seconds <= 1e9)) {
        throw misuse("SECONDS must be above 0 and at most 1e9");
      }
      Json.Obj body = post(client, ApiV1.EXTEND, reason().put("seconds", Json.of(seconds)));
      long timeout = JsonFields.number(body, "timeout_at_ms");
      long deadline = JsonFields.number(body, "deadline_ms");
      long end = timeout == 0 || (deadline != 0 && deadline < timeout) ? deadline : timeout;
      return answered(body, task() + ": may run until " + HumanFormat.time(end));
    }
  }

  /** {@code forgive JOB...}: lets failed and waiting tasks run again. */
  @Command(
      name = "forgive",
      mixinStandardHelpOptions = true,
      description = {
        "Let failed and waiting tasks of jobs start again at once.",
        "Without further flags all of them; otherwise those that the flags choose."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier forgive backup",
        "  espalier forgive backup --fingerprint 5d41402abc4b2a76 --preview",
        "  espalier forgive backup --node db17 --node db18 --reason 'disk replaced'"
      })
  public static final class Forgive extends SelectingCommand {
    @Parameters(paramLabel = "JOB", arity = "0..*", description = "Names of jobs, in order.")
    private List<String> jobs = List.of();

    @Mixin private final SetOption set = new SetOption();

    public Forgive(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (jobs.isEmpty() != set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      for (String job : set.isGiven() ? set.jobs(client) : jobs) {
        Json.Obj body = post(client, ApiV1.FORGIVE, job, preview());
        if (json()) {
          print(body);
        } else if (preview()) {
          printMatches(job, body, "would be forgiven");
        } else {
          say(job + ": " + tasks(JsonFields.number(body, "changed")));
        }
        // Completed commands stay reported even when a later job is unknown.
        out().flush();
      }
      return ExitCode.OK;
    }
  }

  /** {@code cancel JOB [NODE...]}: ends tasks for good without running them. */
  @Command(
      name = "cancel",
      mixinStandardHelpOptions = true,
      description = {
        "Cancel tasks of a job for good: they count as ended, neither as done nor as failed.",
        "Tasks that run are killed. Tasks that are done stay done. forgive and rerun undo it."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier cancel backup db17 db18 --reason 'scrapped'",
        "  espalier cancel backup --prefix rack7- --preview",
        "  espalier cancel backup --status failed --expect 12"
      })
  public static final class Cancel extends SelectingCommand {
    @Parameters(
        paramLabel = "JOB [NODE...]",
        arity = "0..*",
        description = "Name of the job, and nodes of its tasks; with --set only nodes.")
    private List<String> names = List.of();

    @Mixin private final SetOption set = new SetOption();

    public Cancel(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (names.isEmpty() && !set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      select(set.isGiven() ? names : names.subList(1, names.size()));
      if (nothingChosen()) {
        throw misuse("say which tasks: NODE, --status, --prefix, --node, --fingerprint, or --all");
      }
      for (String job : set.isGiven() ? set.jobs(client) : names.subList(0, 1)) {
        Json.Obj body = post(client, ApiV1.CANCEL, job, preview());
        if (json()) {
          print(body);
        } else if (preview()) {
          printMatches(job, body, "would be cancelled");
        } else {
          say(job + ": " + tasks(JsonFields.number(body, "changed")) + " cancelled");
        }
        // Completed commands stay reported even when a later job refuses.
        out().flush();
      }
      return ExitCode.OK;
    }
  }

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
        "  espalier rerun backup --all --yes",
        "  espalier rerun --set 2026-11-upgrade --status failed --preview"
      })
  public static final class Rerun extends SelectingCommand {
    @Parameters(paramLabel = "JOB", arity = "0..1", description = "Name of the job.")
    private String job = "";

    @Mixin private final SetOption set = new SetOption();

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    public Rerun(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (job.isEmpty() != set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      if (nothingChosen()) {
        throw misuse("say which tasks: --status, --prefix, --node, --fingerprint, or --all");
      }
      if (!preview() && !yes && !viewport().asks()) {
        throw new CommandException(
            ExitCode.USAGE, "nobody can be asked here: say --yes, or look first with --preview");
      }
      Map<String, @Nullable Long> expected = new LinkedHashMap<>();
      for (String each : set.isGiven() ? set.jobs(client) : List.of(job)) {
        expected.put(each, expect());
      }
      if (preview() || !yes) {
        long all = 0;
        for (Map.Entry<String, @Nullable Long> each : expected.entrySet()) {
          Json.Obj found = post(client, ApiV1.RERUN, each.getKey(), true);
          if (preview() && json()) {
            print(found);
          } else {
            printMatches(each.getKey(), found, "would start again");
          }
          // The command applies to the confirmed number of tasks; if others match meanwhile, it
          // changes nothing.
          each.setValue(JsonFields.number(found, "matched"));
          all += JsonFields.number(found, "matched");
        }
        if (preview() || all == 0) {
          return ExitCode.OK;
        }
        if (!confirmed("Run " + tasks(all) + " again?")) {
          remark("nothing was changed");
          return ExitCode.FAILED;
        }
      }
      expected.forEach(
          (each, count) -> {
            Json.Obj done = post(client, ApiV1.RERUN, each, false, count);
            long changed = JsonFields.number(done, "changed");
            var unused = answered(done, each + ": " + tasks(changed) + " will run again");
            // Completed commands stay reported even when a later job refuses.
            out().flush();
          });
      return ExitCode.OK;
    }
  }
}
