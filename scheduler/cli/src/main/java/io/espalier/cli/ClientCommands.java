package io.espalier.cli;

import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.inspect.EventsCommand;
import io.espalier.cli.client.inspect.ExplainCommand;
import io.espalier.cli.client.inspect.JobDetailCommands;
import io.espalier.cli.client.inspect.JobsCommand;
import io.espalier.cli.client.inspect.LogsCommand;
import io.espalier.cli.client.inspect.NodeCommands;
import io.espalier.cli.client.inspect.SchedulerInfoCommands;
import io.espalier.cli.client.inspect.TaskListCommands;
import io.espalier.cli.client.operate.JobCommands;
import io.espalier.cli.client.operate.JobEditCommands;
import io.espalier.cli.client.operate.LeaderCommands;
import io.espalier.cli.client.operate.LimitCommands;
import io.espalier.cli.client.operate.TaskCommands;
import io.espalier.cli.client.operate.WorkerCommands;
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
        new TaskListCommands.Tasks(clients),
        new TaskListCommands.Running(clients),
        new ExplainCommand(clients),
        new JobDetailCommands.Waiting(clients),
        new JobDetailCommands.Failures(clients),
        new JobDetailCommands.Levels(clients),
        new NodeCommands.Tree(clients),
        new NodeCommands.Node(clients),
        new LogsCommand(clients),
        new EventsCommand(clients),
        new SchedulerInfoCommands.Problems(clients),
        new SchedulerInfoCommands.Settings(clients),
        new SchedulerInfoCommands.Queues(clients),
        new WorkerCommands.Workers(clients),
        new WorkerCommands.Drain(clients),
        new WorkerCommands.Cordon(clients),
        new WorkerCommands.Uncordon(clients),
        new LimitCommands.Limits(clients),
        new LimitCommands.SetLimit(clients),
        new LimitCommands.ClearLimit(clients),
        new TaskCommands.Forgive(clients),
        new TaskCommands.Rerun(clients),
        new JobCommands.Stop(clients),
        new TaskCommands.Kill(clients),
        new TaskCommands.Extend(clients),
        new JobCommands.Pause(clients),
        new JobCommands.Resume(clients),
        new JobEditCommands.ValidateJob(clients),
        new JobEditCommands.SaveJob(clients),
        new JobEditCommands.DeleteJob(clients),
        new JobEditCommands.JobHistory(clients),
        new SchedulerInfoCommands.Audit(clients),
        new SchedulerInfoCommands.Whoami(clients),
        new LeaderCommands.Leadership(clients),
        new LeaderCommands.StepDown(clients));
  }
}
