package io.espalier.server.cli.client;

import java.util.List;

/** All client commands, for the command line to add. */
public final class ClientCommands {
  private ClientCommands() {}

  /** Annotated command objects, in the order of the help. */
  public static List<Object> all(Clients clients) {
    return List.of(
        new JobsCommand(clients),
        new TasksCommand(clients),
        new RunningCommand(clients),
        new ExplainCommand(clients),
        new LogsCommand(clients),
        new EventsCommand(clients),
        new WorkersCommand(clients),
        new ForgiveCommand(clients),
        new KillCommand(clients),
        new ExtendCommand(clients),
        new PauseCommand(clients),
        new ResumeCommand(clients),
        new SaveJobCommand(clients),
        new DeleteJobCommand(clients),
        new JobHistoryCommand(clients));
  }
}
