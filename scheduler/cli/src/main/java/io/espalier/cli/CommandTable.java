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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All commands by group, in the order of the help. A command line creates only the commands that it
 * needs: picocli reads the annotations of each command that it is given, and reading those of all
 * takes several times as long as most commands run.
 */
public final class CommandTable {
  private static final String COMPLETION = "completion";
  private static final String SUBJECTS = "By subject";

  private final CommandContext clients;
  private final Map<String, List<String>> groups = new LinkedHashMap<>();
  private final NounTable nouns;

  /**
   * @param clients what client commands talk to
   */
  public CommandTable(CommandContext clients) {
    this.clients = clients;
    groups.put(SUBJECTS, List.of()); // keeps the first place
    group(
        "Run",
        "run",
        "scheduler",
        "ui",
        "validate",
        "convert",
        "nodes",
        "ha-check",
        "backup",
        "restore",
        "bench",
        "replay");
    group(
        "Look",
        "top",
        "jobs",
        "tasks",
        "sets",
        "eta",
        "simulate",
        "report",
        "running",
        "explain",
        "waiting",
        "failures",
        "levels",
        "tree",
        "logs",
        "events",
        "history",
        "problems",
        "queues",
        "probes",
        "groups",
        "notifications",
        "settings");
    group(
        "Steer",
        "pause",
        "halt",
        "promote",
        "resume",
        "stop",
        "kill",
        "extend",
        "forgive",
        "cancel",
        "rerun",
        "brakes",
        "brake",
        "release",
        "quarantines",
        "quarantine",
        "lift",
        "probe",
        "notify",
        "limits",
        "set-limit",
        "clear-limit");
    group("Workers", "workers", "drain", "cordon", "uncordon");
    group("Jobs", "plan", "apply", "validate-job", "save-job", "delete-job", "job-history");
    group("People and leaders", "audit", "whoami", "leadership", "step-down");
    group("Further", COMPLETION);
    nouns = new NounTable(clients, this::create);
    groups.put(SUBJECTS, nouns.names());
  }

  private void group(String title, String... commands) {
    groups.put(title, List.of(commands));
  }

  /** Creates a command. One switch, because a lambda for each took as long as to create one. */
  private Object create(String name) {
    return switch (name) {
      case "run" -> new RunCommand();
      case "scheduler" -> new SchedulerCommand();
      case "ui" -> new UiCommand();
      case "validate" -> validate();
      case "convert" -> convert();
      case "nodes" -> new NodesCommand();
      case "ha-check" -> new HaCheckCommand();
      case "backup" -> new BackupCommands.Backup();
      case "restore" -> new BackupCommands.Restore();
      case "bench" -> new BenchCommand();
      case "replay" -> new ReplayCommand();
      case "top" -> new TopCommand(clients);
      case "jobs" -> new JobsCommand(clients);
      case "tasks" -> new TaskListCommands.Tasks(clients);
      case "sets" -> new SetsCommand(clients);
      case "eta" -> new EtaCommand(clients);
      case "simulate" -> new SimulateCommand(clients);
      case "report" -> new ReportCommand(clients);
      case "running" -> new TaskListCommands.Running(clients);
      case "explain" -> new ExplainCommand(clients);
      case "waiting" -> new JobDetailCommands.Waiting(clients);
      case "failures" -> new JobDetailCommands.Failures(clients);
      case "levels" -> new JobDetailCommands.Levels(clients);
      case "tree" -> new NodeCommands.Tree(clients);
      case "logs" -> new LogsCommand(clients);
      case "events" -> new EventsCommand(clients);
      case "history" -> new HistoryCommand(clients);
      case "problems" -> new SchedulerInfoCommands.Problems(clients);
      case "queues" -> new SchedulerInfoCommands.Queues(clients);
      case "probes" -> new ProbeCommands.Probes(clients);
      case "groups" -> new GroupsCommand(clients);
      case "notifications" -> new NotificationCommands.Notifications(clients);
      case "settings" -> new SchedulerInfoCommands.Settings(clients);
      case "pause" -> new JobCommands.Pause(clients);
      case "halt" -> new JobCommands.Halt(clients);
      case "promote" -> new JobCommands.Promote(clients);
      case "resume" -> new JobCommands.Resume(clients);
      case "stop" -> new JobCommands.Stop(clients);
      case "kill" -> new TaskCommands.Kill(clients);
      case "extend" -> new TaskCommands.Extend(clients);
      case "forgive" -> new TaskCommands.Forgive(clients);
      case "cancel" -> new TaskCommands.Cancel(clients);
      case "rerun" -> new TaskCommands.Rerun(clients);
      case "brakes" -> new BrakingCommands.Brakes(clients);
      case "brake" -> new BrakingCommands.Brake(clients);
      case "release" -> new BrakingCommands.Release(clients);
      case "quarantines" -> new QuarantineCommands.Quarantines(clients);
      case "quarantine" -> new QuarantineCommands.Quarantine(clients);
      case "lift" -> new QuarantineCommands.Lift(clients);
      case "probe" -> new ProbeCommands.Probe(clients);
      case "notify" -> new NotificationCommands.Notify(clients);
      case "limits" -> new LimitCommands.Limits(clients);
      case "set-limit" -> new LimitCommands.SetLimit(clients);
      case "clear-limit" -> new LimitCommands.ClearLimit(clients);
      case "workers" -> new WorkerCommands.Workers(clients);
      case "drain" -> new WorkerCommands.Drain(clients);
      case "cordon" -> new WorkerCommands.Cordon(clients);
      case "uncordon" -> new WorkerCommands.Uncordon(clients);
      case "plan" -> new PlanCommands.Plan(clients);
      case "apply" -> new PlanCommands.Apply(clients);
      case "validate-job" -> new JobEditCommands.ValidateJob(clients);
      case "save-job" -> new JobEditCommands.SaveJob(clients);
      case "delete-job" -> new JobEditCommands.DeleteJob(clients);
      case "job-history" -> new JobEditCommands.JobHistory(clients);
      case "audit" -> new SchedulerInfoCommands.Audit(clients);
      case "whoami" -> new SchedulerInfoCommands.Whoami(clients);
      case "leadership" -> new LeaderCommands.Leadership(clients);
      case "step-down" -> new LeaderCommands.StepDown(clients);
      case COMPLETION -> new CompletionCommand();
      default -> nouns.all(name);
    };
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
        || groups.values().stream().noneMatch(names -> names.contains(arguments[0]))) {
      return all();
    }
    return List.of(
        nouns.names().contains(arguments[0]) ? nouns.neededFor(arguments) : create(arguments[0]));
  }

  /** Creates all commands. */
  List<Object> all() {
    return groups.values().stream().flatMap(List::stream).map(this::create).toList();
  }
}
