package io.espalier.worker.process;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.ProgressParser;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.Journal;
import java.util.function.IntConsumer;

/** What a running task needs of its supervisor; confined to the supervisor's thread. */
interface TaskHost {
  TaskLog log();

  JsonDecoder json();

  ProgressParser progressText();

  /** Runs an action later. */
  void after(long nanos, Runnable action);

  /**
   * Signals everything that belongs to the task, wherever it has moved; reports how much was found.
   */
  void sweep(Journal.Entry task, int signal, IntConsumer found);

  /** Returns whether the guard has killed, or is killing, what was started at that time. */
  boolean hasLostLeaseSince(long startTicks);

  /** A process has started. */
  void started(Journal.Entry process);

  /** Reports that a task has started. */
  void confirm(LaunchSpec launch);

  /** Control groups were removed, as far as that was possible. */
  void groupRemoved(TaskGroup group);

  void progress(JournalKey key, Progress progress);

  /** A process has ended, with everything that belonged to it; or could not be started. */
  void ended(String invocation);

  /** A task has ended. */
  void ended(JournalKey key, TaskResult end);
}
