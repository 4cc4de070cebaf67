package io.espalier.server.process;

import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerInfo;
import java.util.List;
import java.util.concurrent.Executor;

/** Brings the news of a runner to the scheduler thread. */
final class LoopListener implements TaskListener {
  private final SchedulerLoop loop;
  private final Executor owner;

  /**
   * @param owner the scheduler thread
   */
  LoopListener(SchedulerLoop loop, Executor owner) {
    this.loop = loop;
    this.owner = owner;
  }

  @Override
  public void ended(TaskEnd end) {
    owner.execute(() -> loop.taskEnded(end));
  }

  @Override
  public void usage(String job, String node, Invocation invocation, Usage usage) {
    owner.execute(() -> loop.usage(job, node, invocation, usage));
  }

  @Override
  public void workers(List<WorkerInfo> workers) {
    owner.execute(() -> loop.workers(workers));
  }
}
