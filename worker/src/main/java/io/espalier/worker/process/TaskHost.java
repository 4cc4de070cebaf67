package io.espalier.worker.process;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ProgressParser;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.Journal;
import java.util.function.IntConsumer;

/** What a running task needs of its supervisor; confined to the supervisor's thread. */
interface TaskHost {
  TaskLog log();

  ProgressParser progressText();

  /** Runs an action later. */
  void after(long nanos, Runnable action);

  /**
   * Signals everything that belongs to the task, wherever it has moved; reports how much was found.
   */
  void sweep(Journal.Entry task, int signal, IntConsumer found);

  /** Returns whether the guard has killed, or is killing, what was started at that time. */
  boolean hasLostLeaseSince(long startTicks);

  /** The process of a task has started. */
  void started(LaunchSpec launch, long pid, long startTicks);

  /** Control groups were removed, as far as that was possible. */
  void groupRemoved(TaskGroup group);

  void progress(JournalKey key, Progress progress);

  /** A task has ended, with everything that belonged to it. */
  void ended(JournalKey key, TaskResult end);
}
