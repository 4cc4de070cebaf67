package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.Throttle;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.resources.TaskUsageReader;
import org.jspecify.annotations.Nullable;

/** An invocation without an end: alone in its process, or one of a batch. */
interface SupervisedTask {
  LaunchSpec launch();

  JournalKey key();

  /** Returns the pid of its process, 0 until the start; safe from any thread. */
  long pid();

  /** Returns the control groups of its process; safe from any thread. */
  @Nullable TaskGroup group();

  /** Returns what it has used so far and uses now; safe from any thread. */
  ResourceUsage sample(TaskUsageReader reader);

  /**
   * @param reason the end reports the first reason given
   */
  void kill(KillRequest how, StopReason reason);

  /** Moves its timeout and its deadline. */
  void extend(long millis);

  /** Tells it how fast to work; while it is to pause, it need not give a sign of life. */
  void throttle(Throttle throttle);
}
