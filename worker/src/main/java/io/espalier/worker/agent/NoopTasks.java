package io.espalier.worker.agent;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Completes every task at once without running anything. It serves to measure the overhead between
 * a scheduler and its tasks ({@code espalier worker --executor noop}). It starts no process, so
 * there is nothing to guard.
 */
public final class NoopTasks implements TaskExecutor {
  private @Nullable TaskListener listener;

  @Override
  public void open(TaskListener newListener) {
    listener = newListener;
  }

  @Override
  public void start(LaunchSpec launch) {
    TaskListener sink = listener;
    if (sink == null) {
      throw new IllegalStateException("not open");
    }
    sink.ended(TaskResult.exited(launch.job(), launch.node(), launch.invocation(), "done", 0));
  }

  @Override
  public void kill(RunId run, KillRequest how) {}

  @Override
  public void extend(RunId run, long millis) {}

  @Override
  public void lease(long uptimeHundredths, long clockMillis) {}

  @Override
  public CompletionStage<Void> leaseInForce() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public String guardProblem() {
    return "";
  }

  /** Returns true: it starts no processes, so none can survive. */
  @Override
  public boolean lookedForSurvivors() {
    return true;
  }

  @Override
  public String description() {
    return "no-op: nothing is run, every task is done at once";
  }

  @Override
  public void close() {}
}
