package io.espalier.webui.security;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Keeps the newest entries in memory, for the lifetime of the process. */
public final class MemoryAuditLog implements AuditLog {
  private final int most;
  private final Deque<AuditEntry> newestFirst = new ArrayDeque<>();
  private long last;

  /**
   * @param most maximum number of kept entries
   */
  public MemoryAuditLog(int most) {
    this.most = most;
  }

  @Override
  public synchronized CompletionStage<Void> append(AuditEntry entry) {
    newestFirst.addFirst(entry.withId(++last));
    if (newestFirst.size() > most) {
      newestFirst.removeLast();
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public synchronized CompletionStage<List<AuditEntry>> before(long id, int limit) {
    List<AuditEntry> found = new ArrayList<>();
    for (AuditEntry entry : newestFirst) {
      if (entry.id() < id && found.size() < limit) {
        found.add(entry);
      }
    }
    return CompletableFuture.completedFuture(found);
  }

  @Override
  public Optional<String> problem() {
    return Optional.empty();
  }

  @Override
  public void close() {}
}
