package io.espalier.server.app.options;

import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where a scheduler process keeps what it knows.
 *
 * @param dataDir the directory for everything the process keeps
 * @param kind the kind of the status store
 * @param mysql address of the status store in MySQL; empty with any other store
 * @param subtreeOwners schema in MySQL with the owners of subtrees, which all schedulers of a
 *     configuration share; empty: subtrees do not move
 * @param owning how the process acquires a status store in MySQL
 * @param fresh whether all statuses are deleted first
 * @param statusesFrom stores of schedulers that partitioned the nodes differently
 * @param events how long events are kept
 * @param keepFinished how long the statuses of a job are kept after it was removed from the
 *     configuration; zero: for ever
 */
public record StoreOptions(
    Path dataDir,
    Kind kind,
    Optional<MySqlAddress> mysql,
    Optional<MySqlAddress> subtreeOwners,
    Owning owning,
    boolean fresh,
    List<ImportSource> statusesFrom,
    EventRetentionOptions events,
    Duration keepFinished) {

  /** The values of {@code --status-store}. */
  public enum Kind {
    MEMORY("memory"),
    SQLITE("sqlite"),
    MYSQL("mysql");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /**
   * Configures how the process acquires a status store in MySQL.
   *
   * @param takeOver whether to take it also from another owner that did not end cleanly
   * @param chosenProof for how long each proof of ownership is valid; empty: the default for the
   *     kind of election
   */
  public record Owning(boolean takeOver, Optional<Duration> chosenProof) {
    /** The minimum validity of a proof. */
    public static final Duration LEAST_PROOF = Duration.ofSeconds(3);

    /** The default validity of a proof: short outages of the store end no task. */
    private static final Duration DEFAULT_PROOF = Duration.ofMinutes(10);

    /** Takes the store from no other owner. */
    public static final Owning DEFAULT = new Owning(false, Optional.empty());

    /** Returns for how long a proof is valid unless the store itself elects. */
    public Duration proof() {
      return chosenProof.orElse(DEFAULT_PROOF);
    }
  }
}
