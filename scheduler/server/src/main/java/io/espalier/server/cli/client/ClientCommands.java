package io.espalier.server.cli.client;

import java.util.List;

/** All client commands, for the command line to add. */
public final class ClientCommands {
  private ClientCommands() {}

  /** Annotated command objects, in the order of the help. */
  public static List<Object> all(Clients clients) {
    return List.of(
        new TopCommand(clients),
        new JobsCommand(clients),
        new TasksCommand(clients),
        new RunningCommand(clients),
        new ExplainCommand(clients),
        new WaitingCommand(clients),
        new FailuresCommand(clients),
        new LevelsCommand(clients),
        new TreeCommand(clients),
        new NodeCommand(clients),
        new LogsCommand(clients),
        new EventsCommand(clients),
        new ProblemsCommand(clients),
        new SettingsCommand(clients),
        new QueuesCommand(clients),
        new WorkersCommand(clients),
        new DrainCommand(clients),
        new CordonCommand(clients),
        new UncordonCommand(clients),
        new LimitsCommand(clients),
        new SetLimitCommand(clients),
        new ClearLimitCommand(clients),
        new ForgiveCommand(clients),
        new RerunCommand(clients),
        new StopCommand(clients),
        new KillCommand(clients),
        new ExtendCommand(clients),
        new PauseCommand(clients),
        new ResumeCommand(clients),
        new ValidateJobCommand(clients),
        new SaveJobCommand(clients),
        new DeleteJobCommand(clients),
        new JobHistoryCommand(clients),
        new AuditCommand(clients),
        new WhoamiCommand(clients),
        new LeadershipCommand(clients),
        new StepDownCommand(clients));
  }
}
