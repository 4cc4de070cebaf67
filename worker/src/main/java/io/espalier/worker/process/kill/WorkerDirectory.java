package io.espalier.worker.process.kill;

import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.FileFailures;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data directory that was taken over: it is locked, and nothing of an earlier run is alive. Takes
 * the notes of this run without which tasks can go on.
 */
public record WorkerDirectory(Journal journal, RecoveryReport recovery) {
  private static final Logger log = LoggerFactory.getLogger(WorkerDirectory.class);
  private static final Duration SURVIVORS_BOUND = Duration.ofSeconds(10);

  /**
   * @throws IOException naming the path, when it cannot be used, another process uses it, or a
   *     survivor could not be verified to be dead
   */
  public static WorkerDirectory takeOver(Path directory) throws IOException {
    Path running = directory.resolve("running").toAbsolutePath();
    Journal journal;
    try {
      Path jobs = Files.createDirectories(directory.resolve("jobs"));
      if (ProcFs.effectiveUid() == 0) {
        // Tasks of other users must reach their own directory in it, and see no other.
        Files.setPosixFilePermissions(jobs, PosixFilePermissions.fromString("rwx--x--x"));
      }
      journal = Journal.lock(running);
    } catch (IOException e) {
      throw new IOException(
          "cannot use the data directory " + directory + ": " + FileFailures.why(e), e);
    }
    boolean taken = false;
    try {
      RecoveryReport recovery = killAll(journal.left(), SURVIVORS_BOUND);
      if (recovery.killedProcesses() > 0) {
        log.warn(
            "killed {} processes of tasks that an earlier run had left behind",
            recovery.killedProcesses());
      }
      FileFailures.needing(
          "the journal of running tasks",
          running,
          () -> {
            removeOldFiles(running);
            journal.begin();
            return running;
          });
      taken = true;
      return new WorkerDirectory(journal, recovery);
    } finally {
      if (!taken) {
        journal.close();
      }
    }
  }

  /** Notes that a process was started; a failure is only logged. */
  public void started(Journal.Entry process) {
    try {
      journal.started(process);
    } catch (IOException e) {
      log.warn("cannot note the start of {}: {}", process.invocation(), e.getMessage());
    }
  }

  /** Notes that an invocation has ended; a failure is only logged. */
  public void ended(String invocation) {
    try {
      journal.ended(invocation);
    } catch (IOException e) {
      log.warn("cannot note the end of {}: {}", invocation, e.getMessage());
    }
  }

  /** Notes which control groups of a task are gone; a failure is only logged. */
  public void groupRemoved(TaskGroup group) {
    for (Path path : group.paths()) {
      try {
        if (!Files.exists(path)) {
          journal.groupRemoved(path);
        }
      } catch (IOException e) {
        log.warn("cannot note the removal of {}: {}", path, e.getMessage());
      }
    }
  }

  /**
   * Kills daemons that tasks of this run have created: they had given up everything that tied them
   * to a task.
   */
  public void killLeftBehind() {
    if (!journal.hasStarted()) {
      return;
    }
    Journal.Left run = new Journal.Left(journal.cookie(), "", List.of());
    JournalKiller killer = new JournalKiller();
    for (int i = 0; i < 10; i++) {
      JournalKiller.Found found =
          killer.round(run, JournalKiller.Reach.RUN, invocation -> Signals.KILL);
      if (found.isNothing()) {
        return;
      }
      log.warn("killing what tasks have left behind, {}", found);
    }
  }

  /**
   * Kills until the search finds nothing that a journal names, then removes the control groups.
   *
   * @return what was found
   * @throws IOException when after {@code bound} something is alive, or that cannot be determined
   */
  static RecoveryReport killAll(Journal.Left left, Duration bound) throws IOException {
    List<String> invocations = left.entries().stream().map(Journal.Entry::invocation).toList();
    if (left.isEmpty()) {
      return new RecoveryReport(List.of(), 0, 0, true);
    }
    if (!left.isOfVisibleProcesses()) {
      // Its numbers mean nothing here: another boot, another machine, another container.
      return new RecoveryReport(invocations, 0, 0, false);
    }
    List<Path> groups = new ArrayList<>();
    for (Journal.Group group : left.groups()) {
      if (Files.exists(group.path())) {
        groups.add(group.path());
      }
    }
    long deadline = System.nanoTime() + bound.toNanos();
    JournalKiller killer = new JournalKiller();
    Set<Long> killed = new HashSet<>();
    while (true) {
      JournalKiller.Found found =
          killer.round(left, JournalKiller.Reach.RUN, invocation -> Signals.KILL);
      if (found.isNothing()) {
        break;
      }
      killed.addAll(found.alive().keySet());
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
            "it cannot be verified that what an earlier run started is dead: " + found);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while processes of an earlier run are killed", e);
      }
    }
    List<String> problems = TaskGroup.existing(groups).remove();
    problems.forEach(problem -> log.warn("left over from an earlier run: {}", problem));
    return new RecoveryReport(invocations, killed.size(), groups.size(), true);
  }

  private static void removeOldFiles(Path running) throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(running, "{*.json,*.status,*.mark,*.closed,lease*}")) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }
}
