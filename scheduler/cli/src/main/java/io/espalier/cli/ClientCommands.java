package io.espalier.cli;

import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.inspect.AuditCommand;
import io.espalier.cli.client.inspect.EventsCommand;
import io.espalier.cli.client.inspect.ExplainCommand;
import io.espalier.cli.client.inspect.FailuresCommand;
import io.espalier.cli.client.inspect.JobHistoryCommand;
import io.espalier.cli.client.inspect.JobsCommand;
import io.espalier.cli.client.inspect.LevelsCommand;
import io.espalier.cli.client.inspect.LimitsCommand;
import io.espalier.cli.client.inspect.LogsCommand;
import io.espalier.cli.client.inspect.NodeCommand;
import io.espalier.cli.client.inspect.ProblemsCommand;
import io.espalier.cli.client.inspect.QueuesCommand;
import io.espalier.cli.client.inspect.RunningCommand;
import io.espalier.cli.client.inspect.SettingsCommand;
import io.espalier.cli.client.inspect.TasksCommand;
import io.espalier.cli.client.inspect.TreeCommand;
import io.espalier.cli.client.inspect.WaitingCommand;
import io.espalier.cli.client.inspect.WhoamiCommand;
import io.espalier.cli.client.inspect.WorkersCommand;
import io.espalier.cli.client.operate.ClearLimitCommand;
import io.espalier.cli.client.operate.CordonCommand;
import io.espalier.cli.client.operate.DeleteJobCommand;
import io.espalier.cli.client.operate.DrainCommand;
import io.espalier.cli.client.operate.ExtendCommand;
import io.espalier.cli.client.operate.ForgiveCommand;
import io.espalier.cli.client.operate.KillCommand;
import io.espalier.cli.client.operate.LeadershipCommand;
import io.espalier.cli.client.operate.PauseCommand;
import io.espalier.cli.client.operate.RerunCommand;
import io.espalier.cli.client.operate.ResumeCommand;
import io.espalier.cli.client.operate.SaveJobCommand;
import io.espalier.cli.client.operate.SetLimitCommand;
import io.espalier.cli.client.operate.StepDownCommand;
import io.espalier.cli.client.operate.StopCommand;
import io.espalier.cli.client.operate.UncordonCommand;
import io.espalier.cli.client.operate.ValidateJobCommand;
import io.espalier.cli.client.top.TopCommand;
import java.util.List;

/** Lists all client commands. */
public final class ClientCommands {
  private ClientCommands() {}

  /** Returns annotated command objects, in the order of the help. */
  public static List<Object> all(CommandContext clients) {
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
