package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

  /** {@code kill JOB [NODE...]}: stops running tasks. */
  @Command(
      name = "kill",
      mixinStandardHelpOptions = true,
      description = {
        "Signal running tasks as their job's kill_subprocess says: those on the nodes, or those"
            + " that flags such as --prefix or --all choose.",
        "For tasks that are not named it says on a terminal how many these are, and asks. The job"
            + " goes on: pause or stop it if they must not start again."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier kill backup db17 --reason 'stuck on a lock'",
        "  espalier kill backup --prefix rack7- --preview",
        "  espalier kill backup --all --yes --reason 'wrong release'"
      })
  public static final class Kill extends SelectingCommand {
    @Parameters(
        paramLabel = "JOB [NODE...]",
        arity = "0..*",
        description = "Name of the job, and nodes of its tasks; with --set only nodes.")
    private List<String> names = List.of();

    @Mixin private final SetOption set = new SetOption();

    public Kill(CommandContext clients) {
      super(clients, null);
    }

    @Override
    public int run(Client client) {
      if (names.isEmpty() && !set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      List<String> nodes = set.isGiven() ? names : names.subList(1, names.size());
      if (nodes.isEmpty() == nothingChosen()) {
        throw misuse(
            "say which tasks: NODE, or else --status, --prefix, --node, --fingerprint, or --all");
      }
      if (!nodes.isEmpty() && !set.isGiven() && !counts()) {
        return each(client, names.get(0), nodes);
      }
      select(nodes);
      // Tasks end and start all the time: it kills what runs then.
      return change(
          client,
          ApiV1.KILL_TASKS,
          set.isGiven() ? set.jobs(client) : names.subList(0, 1),
          new Words("would be signaled", "Kill %s?", " signaled", false));
    }

    /** Kills tasks that are named one by one, so that one that does not run is an error. */
    private int each(Client client, String job, List<String> nodes) {
      for (String node : nodes) {
        Json.Obj body =
            client.call(
                "POST", ApiV1.KILL, Map.of("job", job, "node", node), Map.of(), reason().build());
        int unused = answered(body, job + " on " + node + ": signaled");
        out().flush();
      }
      return ExitCode.OK;
    }
  }

  /** {@code extend JOB NODE SPAN}: gives a running task more time. */
  @Command(
      name = "extend",
      mixinStandardHelpOptions = true,
      description = "Give a running task more time: moves its timeout and its deadline.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier extend backup db17 1h"})
  public static final class Extend extends TaskCommand {
    @Parameters(
        index = "2",
        paramLabel = "SPAN",
        converter = DurationConverter.Seconds.class,
        description = "How much longer it may take: 90s, 2h; a number alone is of seconds.")
    private double seconds;

    public Extend(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (!(seconds > 0 && seconds <= 1e9)) {
        throw misuse("SPAN must be above 0 and at most 1e9 seconds");
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
      return change(
          client,
          ApiV1.FORGIVE,
          set.isGiven() ? set.jobs(client) : jobs,
          new Words("would be forgiven", "Forgive %s?", ""));
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
      return change(
          client,
          ApiV1.CANCEL,
          set.isGiven() ? set.jobs(client) : names.subList(0, 1),
          new Words("would be cancelled", "Cancel %s?", " cancelled"));
    }
  }

  /** {@code rerun JOB}: restarts chosen tasks from the beginning. */
  @Command(
      name = "rerun",
      mixinStandardHelpOptions = true,
      description = {
        "Let chosen tasks of a job start from the beginning, done ones too: their status,"
            + " attempts,",
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
      return change(
          client,
          ApiV1.RERUN,
          set.isGiven() ? set.jobs(client) : List.of(job),
          new Words("would start again", "Run %s again?", " will run again"));
    }
  }
}
