package io.espalier.worker.agent;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.process.TaskSupervisor;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs tasks as child processes, or as calls of services. */
public final class ProcessTaskExecutor implements TaskExecutor {
  private final TaskSupervisor supervisor;
  private final CallExecutor calls;
  private final JobLogs logs;
  private @Nullable TaskListener listener;

  /**
   * @param supervisor prepared with a lease, not yet open
   * @param calls not yet open
   * @param logs settings of the store that both write to
   */
  public ProcessTaskExecutor(TaskSupervisor supervisor, CallExecutor calls, JobLogs logs) {
    this.supervisor = supervisor;
    this.calls = calls;
    this.logs = logs;
  }

  @Override
  public void open(TaskListener newListener) {
    listener = newListener;
    calls.open(newListener);
    supervisor.open(newListener);
  }

  @Override
  public void start(LaunchSpec launch) {
    start(
        List.of(launch),
        launch.call() == null ? supervisor::startBatch : one -> calls.start(launch));
  }

  @Override
  public void startBatch(List<LaunchSpec> members) {
    start(members, supervisor::startBatch);
  }

  private void start(List<LaunchSpec> members, Consumer<List<LaunchSpec>> starter) {
    LaunchSpec first = members.get(0);
    if (!HealthCheck.is(first.job())) {
      // Set before the task can write its first line: secrets must not reach the disk.
      logs.set(first.job(), first.logs());
    }
    try {
      starter.accept(members);
    } catch (IllegalStateException e) {
      TaskListener sink = listener;
      if (sink != null) {
        for (LaunchSpec member : members) {
          sink.ended(
              TaskResult.notStarted(
                  member.job(),
                  member.node(),
                  member.invocation(),
                  String.valueOf(e.getMessage()),
                  0));
        }
      }
    }
  }

  @Override
  public void kill(RunId run, KillRequest how) {
    // A task that has ended meanwhile is reported by its own end: no answer is needed here.
    boolean unused =
        calls.kill(run.job(), run.node(), run.invocation())
            || supervisor.kill(run.job(), run.node(), run.invocation(), how);
  }

  @Override
  public void giveUp(RunId run, KillRequest how) {
    if (!calls.letGo(run.job(), run.node(), run.invocation(), "its worker has let go of it")) {
      kill(run, how);
    }
  }

  @Override
  public void letGo(RunId run) {
    // As in kill.
    boolean unused = calls.letGo(run.job(), run.node(), run.invocation(), CallExecutor.REPORTED);
  }

  @Override
  public void recall(RunId run) {
    calls.recall(run.job(), run.node(), run.invocation());
    supervisor.recall(run.job(), run.node(), run.invocation());
  }

  @Override
  public void extend(RunId run, long millis) {
    // As in kill.
    boolean unused =
        calls.extend(run.job(), run.node(), run.invocation(), millis)
            || supervisor.extend(run.job(), run.node(), run.invocation(), millis);
  }

  @Override
  public void throttle(RunId run, Throttle throttle) {
    supervisor.throttle(run.job(), run.node(), run.invocation(), throttle);
  }

  @Override
  public void lease(long uptimeHundredths, long clockMillis) {
    calls.lease(uptimeHundredths, clockMillis);
    supervisor.lease(uptimeHundredths, clockMillis);
  }

  @Override
  public CompletionStage<Void> leaseInForce() {
    return supervisor.guardAtRest();
  }

  @Override
  public String guardProblem() {
    return supervisor.guardProblem();
  }

  @Override
  public boolean lookedForSurvivors() {
    return supervisor.recovery().looked();
  }

  @Override
  public String description() {
    return supervisor.description();
  }

  @Override
  public void close() {
    calls.close();
    supervisor.close();
  }
}
