package io.espalier.worker;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.process.JournalKey;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Simulated tasks, which only end; a single timer thread serves all of them. The thread that
 * removes a task from the set delivers its end, so each task has exactly one end.
 */
final class SimulatedTasks {
  private final String shard;
  private final Set<JournalKey> running = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor timer;
  private volatile @Nullable TaskListener ends;
  private volatile boolean closing;

  SimulatedTasks(String shard) {
    this.shard = shard;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, "pretended-tasks");
              thread.setDaemon(true);
              return thread;
            });
  }

  String shard() {
    return shard;
  }

  void open(TaskListener newEnds) {
    if (ends != null) {
      throw new IllegalStateException("this runner is open already");
    }
    ends = newEnds;
  }

  void start(LaunchSpec launch, long micros, String rawStatus) {
    TaskListener sink = ends;
    if (sink == null) {
      throw new IllegalStateException("the runner is not open");
    }
    JournalKey key = JournalKey.of(launch);
    if (!running.add(key)) {
      throw new IllegalStateException("this invocation was started before: " + key);
    }
    synchronized (timer) {
      if (!closing) {
        var unused = timer.schedule(() -> end(key, rawStatus), micros, TimeUnit.MICROSECONDS);
        return;
      }
    }
    if (running.remove(key)) {
      sink.ended(key.end(TaskResult.Kind.NOT_STARTED).withMessage("shutting down"));
    }
  }

  boolean kill(String job, String node, Invocation invocation) {
    JournalKey key = new JournalKey(job, node, invocation);
    if (!running.contains(key)) {
      return false;
    }
    synchronized (timer) {
      if (!closing) {
        timer.execute(() -> kill(key));
      }
    }
    return true;
  }

  /** Kills the remaining tasks. Every end has been delivered when this method returns. */
  void close() {
    synchronized (timer) {
      closing = true;
      timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
      timer.shutdown();
    }
    try {
      timer.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    running.forEach(this::kill);
  }

  private void end(JournalKey key, String rawStatus) {
    if (running.remove(key)) {
      deliver(key.end(TaskResult.Kind.EXITED).withRawStatus(rawStatus).withExit(0, null));
    }
  }

  private void kill(JournalKey key) {
    if (running.remove(key)) {
      deliver(key.end(TaskResult.Kind.KILLED).withExit(null, 15));
    }
  }

  private void deliver(TaskResult end) {
    TaskListener sink = ends;
    if (sink != null) {
      sink.ended(end);
    }
  }
}
