package io.espalier.server.process;

import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Forwards the notifications of a runner to the scheduler thread. It forwards progress a few times
 * a second, and only the newest of each task, so that a task that writes a line per row does not
 * keep the scheduler busy.
 */
final class LoopTaskListener implements TaskListener {
  private static final long PROGRESS_MILLIS = 100;

  private final SchedulerLoop loop;
  private final Executor owner;
  private final Map<Key, Progress> waiting = new ConcurrentHashMap<>();

  private record Key(String job, String node, Invocation invocation) {}

  /**
   * @param owner the scheduler thread
   */
  LoopTaskListener(SchedulerLoop loop, Executor owner) {
    this.loop = loop;
    this.owner = owner;
  }

  @Override
  public void ended(TaskResult end) {
    owner.execute(
        () -> {
          // The last progress counts, even of a very short task.
          tell(new Key(end.job(), end.node(), end.invocation()));
          loop.taskEnded(end);
        });
  }

  @Override
  public void late(TaskResult end) {
    owner.execute(() -> loop.lateEnd(end));
  }

  @Override
  public void progress(String job, String node, Invocation invocation, Progress progress) {
    Key key = new Key(job, node, invocation);
    if (waiting.put(key, progress) == null) {
      CompletableFuture.delayedExecutor(PROGRESS_MILLIS, TimeUnit.MILLISECONDS, owner)
          .execute(() -> tell(key));
    }
  }

  @Override
  public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
    owner.execute(() -> loop.usage(job, node, invocation, usage));
  }

  @Override
  public void workers(List<WorkerInfo> workers) {
    owner.execute(() -> loop.workers(workers));
  }

  private void tell(Key key) {
    Progress newest = waiting.remove(key);
    if (newest != null) {
      loop.taskProgress(key.job(), key.node(), key.invocation(), newest);
    }
  }
}
