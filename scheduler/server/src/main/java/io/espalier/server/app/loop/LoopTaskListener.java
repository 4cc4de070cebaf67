package io.espalier.server.app.loop;

import io.espalier.core.loop.LoopInput;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.status.TaskKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Forwards the notifications of a runner to the scheduler thread. It forwards progress a few times
 * a second, and only the newest of each task, so that a task that writes a line per row does not
 * keep the scheduler busy.
 */
public final class LoopTaskListener implements TaskListener {
  private static final long PROGRESS_MILLIS = 100;

  private final Consumer<LoopInput> loop;
  private final Map<Key, Progress> waiting = new ConcurrentHashMap<>();

  private record Key(TaskKey task, Invocation invocation) {}

  /**
   * @param loop takes inputs for the scheduler thread
   */
  public LoopTaskListener(Consumer<LoopInput> loop) {
    this.loop = loop;
  }

  @Override
  public void ended(TaskResult end) {
    Key key = new Key(new TaskKey(end.job(), end.node()), end.invocation());
    if (waiting.containsKey(key)) {
      // The last progress counts, even of a very short task.
      tell(key);
    }
    loop.accept(new LoopInput.TaskEnded(end));
  }

  @Override
  public void started(String job, String node, Invocation invocation) {
    loop.accept(new LoopInput.TaskStarted(invocation));
  }

  @Override
  public void recalled(List<Invocation> invocations) {
    loop.accept(new LoopInput.Recalled(invocations));
  }

  @Override
  public void late(TaskResult end) {
    loop.accept(new LoopInput.TaskEndedLate(end));
  }

  @Override
  public void progress(String job, String node, Invocation invocation, Progress progress) {
    Key key = new Key(new TaskKey(job, node), invocation);
    boolean[] isFirst = new boolean[1];
    Progress unused =
        waiting.compute(
            key,
            (same, before) -> {
              isFirst[0] = before == null;
              return progress.after(before);
            });
    if (isFirst[0]) {
      CompletableFuture.delayedExecutor(PROGRESS_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
          .execute(() -> tell(key));
    }
  }

  @Override
  public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
    loop.accept(new LoopInput.TaskUsage(new TaskKey(job, node), invocation, usage));
  }

  @Override
  public void workers(List<WorkerInfo> workers) {
    loop.accept(new LoopInput.Workers(workers));
  }

  /** The loop takes the newest progress when it gets there, so that none piles up before it. */
  private void tell(Key key) {
    loop.accept(
        new LoopInput.TaskProgressed(key.task(), key.invocation(), () -> waiting.remove(key)));
  }
}
