package io.espalier.worker.process;

import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.os.TaskUser;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.process.spawn.TaskUsers;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Begins the processes of tasks, as many at once as the mechanism can hold. For the thread of the
 * supervisor.
 */
final class ProcessStarts implements AutoCloseable {
  private final ProcessBackend processes;
  private final TaskLauncher launcher;
  private final Journal journal;
  private final TaskUsers users;
  private final int capacity;

  /** How many processes were begun and have not ended. */
  private int live;

  ProcessStarts(ProcessBackend processes, TaskLauncher launcher, Journal journal, TaskUsers users) {
    this.processes = processes;
    this.launcher = launcher;
    this.journal = journal;
    this.users = users;
    this.capacity = processes.capacity();
  }

  /**
   * Begins a process; if that fails, the process is told so.
   *
   * @param batch all tasks of its batch; empty: its task is alone
   */
  void begin(TaskProcess process, List<LaunchSpec> batch) {
    live++;
    if (live > capacity) {
      process.fail(
          TaskResult.Kind.NOT_STARTED,
          capacity + " tasks run, more are not possible with this limit of open files (ulimit -n)");
      return;
    }
    Optional<ProcessAttributes.RunAs> runAs = process.launch().subprocess().attributes().runAs();
    if (runAs.isEmpty()) {
      start(process, batch, null);
    } else {
      users.find(
          runAs.get(),
          (user, problem) -> {
            if (user == null) {
              process.fail(TaskResult.Kind.START_FAILED, problem);
            } else {
              start(process, batch, user);
            }
          });
    }
  }

  private void start(TaskProcess process, List<LaunchSpec> batch, @Nullable TaskUser user) {
    String invocation = process.invocation();
    try {
      journal.starting(invocation);
      TaskLauncher.Prepared prepared = launcher.prepare(process.launch(), batch, user);
      process.prepared(prepared);
      TaskGroup group = prepared.group();
      for (Path path : group == null ? List.<Path>of() : group.paths()) {
        journal.group(invocation, path);
      }
      processes.spawn(prepared.spawn(), process);
    } catch (FileSystemException e) {
      TaskResult.Kind kind =
          isShortage(reason(e)) ? TaskResult.Kind.NOT_STARTED : TaskResult.Kind.START_FAILED;
      process.fail(kind, "cannot use " + e.getFile() + ": " + reason(e));
    } catch (IOException | IllegalArgumentException e) {
      process.fail(TaskResult.Kind.START_FAILED, String.valueOf(e.getMessage()));
    }
  }

  private static String reason(FileSystemException e) {
    return e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
  }

  /** Returns whether the failure is a shortage, such as a full disk, and not the task's fault. */
  private static boolean isShortage(String reason) {
    return reason.contains("No space left")
        || reason.contains("quota exceeded")
        || reason.contains("Too many open files");
  }

  /** Handles the end of a process that was begun, even of one that failed to start. */
  void ended() {
    live--;
  }

  @Override
  public void close() {
    users.close();
  }
}
