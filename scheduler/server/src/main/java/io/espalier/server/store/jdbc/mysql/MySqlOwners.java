package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Accesses the row that names the owner of a store, on a connection of its own, so that a slow
 * commit does not delay a proof of ownership. Each call is one statement and therefore atomic.
 * Thread-safe.
 */
public final class MySqlOwners implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** The schema version that introduced the row. */
  private static final int SINCE_VERSION = 6;

  private final MySqlAddress address;
  private final MySqlSession session;

  private MySqlOwners(MySqlAddress address, MySqlSession session) {
    this.address = address;
    this.session = session;
  }

  /**
   * Creates an instance without contacting the server.
   *
   * @throws StoreException when the trusted certificates cannot be read
   */
  public static MySqlOwners of(MySqlAddress address) {
    int seconds = Math.toIntExact(PATIENCE.toSeconds());
    return new MySqlOwners(
        address,
        MySqlSession.of(
            address,
            Map.of("innodb_lock_wait_timeout", seconds, "lock_wait_timeout", seconds),
            Math.toIntExact(2 * PATIENCE.toMillis())));
  }

  /** Returns the name of the store for messages. */
  public String description() {
    return "status store " + address;
  }

  /** Returns the owner of the store; empty when its tables are missing or older than the row. */
  public Optional<StoreOwner> read() {
    return session.ask(
        open -> {
          if (MySqlSchema.version(open) < SINCE_VERSION) {
            return Optional.empty();
          }
          try (PreparedStatement select =
                  open.prepareStatement(
                      "SELECT owner, process, label, since, proof, lease, beat, ended"
                          + " FROM espalier_owner WHERE id = 1");
              ResultSet found = select.executeQuery()) {
            return found.next()
                ? Optional.of(
                    new StoreOwner(
                        found.getString(1),
                        found.getString(2),
                        found.getString(3),
                        found.getLong(4),
                        found.getLong(5),
                        found.getLong(6),
                        found.getLong(7),
                        found.getBoolean(8)))
                : Optional.empty();
          }
        });
  }

  /**
   * Takes the store over if its row is still as it was seen. Leaves the duration of leases
   * unchanged: it changes only together with the epoch, because raising the epoch needs the old
   * value.
   *
   * @return true when the store was taken
   */
  public boolean claim(StoreOwner seen, StoreOwner mine) {
    return session.update(
            "UPDATE espalier_owner SET owner = ?, process = ?, label = ?, since = ?,"
                + " proof = ?, beat = beat + 1, ended = 0"
                + " WHERE id = 1 AND process = ? AND beat = ? AND ended = ?",
            mine.owner(),
            mine.process(),
            mine.label(),
            mine.sinceMillis(),
            mine.proofMillis(),
            seen.process(),
            seen.beat(),
            seen.ended())
        == 1;
  }

  /**
   * Proves that a process owns the store by updating the row, if the process is its owner.
   *
   * @return true when it is
   */
  public boolean beat(String process) {
    return session.update(
            "UPDATE espalier_owner SET beat = beat + 1"
                + " WHERE id = 1 AND process = ? AND ended = 0",
            process)
        == 1;
  }

  /** Records that a process ended cleanly, if it still owns the store. */
  public void end(String process) {
    int unused =
        session.update(
            "UPDATE espalier_owner SET beat = beat + 1, ended = 1"
                + " WHERE id = 1 AND process = ?",
            process);
  }

  /**
   * A scheduler that could lead. Candidates are ordered by their arrival.
   *
   * @param body the candidate's description of itself
   * @param beat changes as long as the candidate is alive
   */
  public record Standing(String process, String body, long beat) {}

  /** Adds the last candidate. */
  public void join(String process, String body) {
    int unused =
        session.update(
            "INSERT INTO espalier_candidate (process, body, beat) VALUES (?, ?, 0)", process, body);
  }

  /** Shows that a candidate is alive. */
  public void beatOf(String process) {
    int unused =
        session.update("UPDATE espalier_candidate SET beat = beat + 1 WHERE process = ?", process);
  }

  /** Removes a candidate. */
  public void leave(String process) {
    int unused = session.update("DELETE FROM espalier_candidate WHERE process = ?", process);
  }

  /** Returns all candidates, including those that died without leaving. */
  public List<Standing> standings() {
    return session.ask(
        open -> {
          List<Standing> all = new ArrayList<>();
          try (PreparedStatement select =
                  open.prepareStatement(
                      "SELECT process, body, beat FROM espalier_candidate ORDER BY place");
              ResultSet found = select.executeQuery()) {
            while (found.next()) {
              all.add(new Standing(found.getString(1), found.getString(2), found.getLong(3)));
            }
          }
          return all;
        });
  }

  /** Returns the epoch in force. */
  public long epoch() {
    return session.ask(
        open -> {
          try (PreparedStatement select =
                  open.prepareStatement("SELECT epoch FROM espalier_store WHERE id = 1");
              ResultSet found = select.executeQuery()) {
            return found.next() ? found.getLong(1) : 0;
          }
        });
  }

  /** Closes the connection; the next call opens another. */
  @Override
  public void close() {
    session.close();
  }
}
