package io.espalier.worker.process;

import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.kill.LeaseGuard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The guard of a supervisor's tasks. With leases it runs from the beginning, because it opens the
 * gate; without them it is started with the first task: a process that starts none needs no second
 * virtual machine.
 */
final class TaskGuard implements AutoCloseable {
  private final Journal journal;
  private final Path gate;
  private final boolean leased;
  private volatile @Nullable LeaseGuard running;

  TaskGuard(Journal journal, boolean leased) {
    this.journal = journal;
    // Of this run alone: a delayed guard of an earlier run closes its own gate.
    this.gate = journal.directory().resolve("lease-" + journal.cookie().substring(0, 8));
    this.leased = leased;
  }

  /** Starts the guard unless it runs. One thread at a time. */
  void start() throws IOException {
    if (running == null) {
      running = LeaseGuard.start(journal.file(), journal.cookie(), gate);
    }
  }

  /** Returns the file without which no task can start; null: there are no leases. */
  @Nullable Path gate() {
    return leased ? gate : null;
  }

  /** As {@link TaskSupervisor#lease}. */
  void lease(long uptimeHundredths, long clockMillis) {
    LeaseGuard guard = running;
    if (!leased || guard == null) {
      throw new IllegalStateException("not prepared for leases");
    }
    guard.lease(uptimeHundredths, clockMillis);
  }

  /** Returns whether the guard has killed, or is killing, what was started at that time. */
  boolean hasLostLeaseSince(long startTicks) {
    if (!leased) {
      return false;
    }
    try {
      return Long.parseLong(Files.readString(gate).strip()) > startTicks;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException | NumberFormatException e) {
      return false;
    }
  }

  /** Returns why tasks are not guarded now; empty: they are, or there are none yet. */
  String problem() {
    LeaseGuard guard = running;
    return guard == null ? "" : guard.problem();
  }

  /** As {@link LeaseGuard#sync}. */
  CompletableFuture<Void> atRest() {
    LeaseGuard guard = running;
    return guard == null ? CompletableFuture.completedFuture(null) : guard.sync();
  }

  @Override
  public void close() {
    LeaseGuard guard = running;
    if (guard != null) {
      guard.close();
    }
  }
}
