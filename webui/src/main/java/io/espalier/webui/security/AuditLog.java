package io.espalier.webui.security;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** An append-only record of who changed what. Thread-safe; no method blocks. */
public interface AuditLog extends AutoCloseable {
  /**
   * Adds an entry; replaces its id by the next number.
   *
   * @return a stage that completes when the entry is durable, and fails when it could not be
   *     written
   */
  CompletionStage<Void> append(AuditEntry entry);

  /**
   * Reads entries, newest first.
   *
   * @param id exclusive upper limit of the ids; {@link Long#MAX_VALUE}: from the newest
   * @param limit maximum number of entries, 1 or more
   */
  CompletionStage<List<AuditEntry>> before(long id, int limit);

  /** Describes why the newest entries could not be written; empty: they were. */
  Optional<String> problem();

  @Override
  void close();
}
