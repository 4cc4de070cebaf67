package io.espalier.cli;

import io.espalier.cli.bench.BenchCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.forecast.EtaCommand;
import io.espalier.cli.client.forecast.SimulateCommand;
import io.espalier.cli.client.inspect.EventsCommand;
import io.espalier.cli.client.inspect.ExplainCommand;
import io.espalier.cli.client.inspect.GroupsCommand;
import io.espalier.cli.client.inspect.HistoryCommand;
import io.espalier.cli.client.inspect.JobDetailCommands;
import io.espalier.cli.client.inspect.JobsCommand;
import io.espalier.cli.client.inspect.LogsCommand;
import io.espalier.cli.client.inspect.NodeCommands;
import io.espalier.cli.client.inspect.ReportCommand;
import io.espalier.cli.client.inspect.SchedulerInfoCommands;
import io.espalier.cli.client.inspect.SetsCommand;
import io.espalier.cli.client.inspect.TaskListCommands;
import io.espalier.cli.client.operate.BrakingCommands;
import io.espalier.cli.client.operate.JobCommands;
import io.espalier.cli.client.operate.JobEditCommands;
import io.espalier.cli.client.operate.LeaderCommands;
import io.espalier.cli.client.operate.LimitCommands;
import io.espalier.cli.client.operate.NotificationCommands;
import io.espalier.cli.client.operate.ProbeCommands;
import io.espalier.cli.client.operate.QuarantineCommands;
import io.espalier.cli.client.operate.TaskCommands;
import io.espalier.cli.client.operate.WorkerCommands;
import io.espalier.cli.client.top.TopCommand;
import io.espalier.cli.run.RunCommand;
import io.espalier.server.app.Plugins;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * All commands by group, in the order of the help. A command line creates only the commands that it
 * needs: picocli reads the annotations of each command that it is given, and reading those of all
 * takes several times as long as most commands run.
 */
public final class CommandTable {
  private static final String COMPLETION = "completion";
  private static final String SUBJECTS = "By subject";

  private final Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
  private final Map<String, List<String>> groups = new LinkedHashMap<>();
  private final NounTable nouns;

  /**
   * @param clients what client commands talk to
   */
  public CommandTable(CommandContext clients) {
    groups.put(SUBJECTS, new ArrayList<>());
    add("Run", "run", RunCommand::new);
    add("Run", "scheduler", SchedulerCommand::new);
    add("Run", "ui", UiCommand::new);
    add("Run", "validate", CommandTable::validate);
    add("Run", "convert", CommandTable::convert);
    add("Run", "nodes", NodesCommand::new);
    add("Run", "ha-check", HaCheckCommand::new);
    add("Run", "backup", BackupCommands.Backup::new);
    add("Run", "restore", BackupCommands.Restore::new);
    add("Run", "bench", BenchCommand::new);
    add("Run", "replay", ReplayCommand::new);
    add("Look", "top", () -> new TopCommand(clients));
    add("Look", "jobs", () -> new JobsCommand(clients));
    add("Look", "tasks", () -> new TaskListCommands.Tasks(clients));
    add("Look", "sets", () -> new SetsCommand(clients));
    add("Look", "eta", () -> new EtaCommand(clients));
    add("Look", "simulate", () -> new SimulateCommand(clients));
    add("Look", "report", () -> new ReportCommand(clients));
    add("Look", "running", () -> new TaskListCommands.Running(clients));
    add("Look", "explain", () -> new ExplainCommand(clients));
    add("Look", "waiting", () -> new JobDetailCommands.Waiting(clients));
    add("Look", "failures", () -> new JobDetailCommands.Failures(clients));
    add("Look", "levels", () -> new JobDetailCommands.Levels(clients));
    add("Look", "tree", () -> new NodeCommands.Tree(clients));
    add("Look", "logs", () -> new LogsCommand(clients));
    add("Look", "events", () -> new EventsCommand(clients));
    add("Look", "history", () -> new HistoryCommand(clients));
    add("Look", "problems", () -> new SchedulerInfoCommands.Problems(clients));
    add("Look", "queues", () -> new SchedulerInfoCommands.Queues(clients));
    add("Look", "probes", () -> new ProbeCommands.Probes(clients));
    add("Look", "groups", () -> new GroupsCommand(clients));
    add("Look", "notifications", () -> new NotificationCommands.Notifications(clients));
    add("Look", "settings", () -> new SchedulerInfoCommands.Settings(clients));
    add("Steer", "pause", () -> new JobCommands.Pause(clients));
    add("Steer", "halt", () -> new JobCommands.Halt(clients));
    add("Steer", "promote", () -> new JobCommands.Promote(clients));
    add("Steer", "resume", () -> new JobCommands.Resume(clients));
    add("Steer", "stop", () -> new JobCommands.Stop(clients));
    add("Steer", "kill", () -> new TaskCommands.Kill(clients));
    add("Steer", "extend", () -> new TaskCommands.Extend(clients));
    add("Steer", "forgive", () -> new TaskCommands.Forgive(clients));
    add("Steer", "cancel", () -> new TaskCommands.Cancel(clients));
    add("Steer", "rerun", () -> new TaskCommands.Rerun(clients));
    add("Steer", "brakes", () -> new BrakingCommands.Brakes(clients));
    add("Steer", "brake", () -> new BrakingCommands.Brake(clients));
    add("Steer", "release", () -> new BrakingCommands.Release(clients));
    add("Steer", "quarantines", () -> new QuarantineCommands.Quarantines(clients));
    add("Steer", "quarantine", () -> new QuarantineCommands.Quarantine(clients));
    add("Steer", "lift", () -> new QuarantineCommands.Lift(clients));
    add("Steer", "probe", () -> new ProbeCommands.Probe(clients));
    add("Steer", "notify", () -> new NotificationCommands.Notify(clients));
    add("Steer", "limits", () -> new LimitCommands.Limits(clients));
    add("Steer", "set-limit", () -> new LimitCommands.SetLimit(clients));
    add("Steer", "clear-limit", () -> new LimitCommands.ClearLimit(clients));
    add("Workers", "workers", () -> new WorkerCommands.Workers(clients));
    add("Workers", "drain", () -> new WorkerCommands.Drain(clients));
    add("Workers", "cordon", () -> new WorkerCommands.Cordon(clients));
    add("Workers", "uncordon", () -> new WorkerCommands.Uncordon(clients));
    add("Jobs", "plan", () -> new PlanCommands.Plan(clients));
    add("Jobs", "apply", () -> new PlanCommands.Apply(clients));
    add("Jobs", "validate-job", () -> new JobEditCommands.ValidateJob(clients));
    add("Jobs", "save-job", () -> new JobEditCommands.SaveJob(clients));
    add("Jobs", "delete-job", () -> new JobEditCommands.DeleteJob(clients));
    add("Jobs", "job-history", () -> new JobEditCommands.JobHistory(clients));
    add("People and leaders", "audit", () -> new SchedulerInfoCommands.Audit(clients));
    add("People and leaders", "whoami", () -> new SchedulerInfoCommands.Whoami(clients));
    add("People and leaders", "leadership", () -> new LeaderCommands.Leadership(clients));
    add("People and leaders", "step-down", () -> new LeaderCommands.StepDown(clients));
    add("Further", COMPLETION, CompletionCommand::new);
    nouns = new NounTable(clients, Map.copyOf(commands));
    nouns.names().forEach(noun -> add(SUBJECTS, noun, () -> nouns.all(noun)));
  }

  private void add(String group, String name, Supplier<Object> command) {
    commands.put(name, command);
    groups.computeIfAbsent(group, title -> new ArrayList<>()).add(name);
  }

  private static Object validate() {
    Plugins plugins = Plugins.load();
    return new ValidateCommand(plugins.configParser(), plugins.nodeSources().values());
  }

  private static Object convert() {
    return new ConvertCommand(Plugins.load().configParser());
  }

  /** Returns the names of all commands by group, in the order of the help. */
  Map<String, List<String>> groups() {
    return groups;
  }

  /** Returns the groups of commands. */
  NounTable nouns() {
    return nouns;
  }

  /** Returns the arguments as the command line takes them. */
  public String[] expanded(String... arguments) {
    return nouns.expanded(arguments);
  }

  /** Creates the commands that a command line needs: annotated objects, and groups of them. */
  public List<Object> neededFor(String... arguments) {
    if (arguments.length == 1 && (arguments[0].equals("--version") || arguments[0].equals("-V"))) {
      return List.of();
    }
    if (arguments.length == 0
        || arguments[0].equals(COMPLETION)
        || !commands.containsKey(arguments[0])) {
      return all();
    }
    return List.of(
        nouns.names().contains(arguments[0])
            ? nouns.neededFor(arguments)
            : Objects.requireNonNull(commands.get(arguments[0])).get());
  }

  /** Creates all commands. */
  List<Object> all() {
    return commands.values().stream().map(Supplier::get).toList();
  }
}
