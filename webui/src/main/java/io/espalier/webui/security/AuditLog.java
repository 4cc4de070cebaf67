package io.espalier.webui.security;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The record of who changed what. Entries are never changed. For any thread; nothing waits. */
public interface AuditLog extends AutoCloseable {
  /**
   * Adds an entry; its id is replaced by the next number.
   *
   * @return completes when the entry would survive a crash; fails when it could not be written
   */
  CompletionStage<Void> append(AuditEntry entry);

  /**
   * Reads, newest first.
   *
   * @param id entries below it; {@link Long#MAX_VALUE}: from the newest on
   * @param limit at most so many, 1 or more
   */
  CompletionStage<List<AuditEntry>> before(long id, int limit);

  /** Why the newest entries could not be written; empty: they were. */
  Optional<String> problem();

  @Override
  void close();
}
