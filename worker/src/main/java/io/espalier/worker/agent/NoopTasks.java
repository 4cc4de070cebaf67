package io.espalier.worker.agent;

import io.espalier.core.config.KillRequest;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Runs nothing: every task is done at once. To measure what lies between a scheduler and its tasks
 * ({@code espalier worker --executor noop}); there is no process, so there is nothing to guard.
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

  /** It starts no processes, so none can be left. */
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
