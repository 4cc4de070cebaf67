package io.espalier.server.ha;

import io.espalier.server.app.ownership.GroupMark;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** One scheduler's view of a group of schedulers that elects a leader. Thread-safe. */
interface Group extends AutoCloseable {
  /**
   * Waits until the group can be reached.
   *
   * @throws IOException with the reason when it cannot
   */
  void awaitConnected() throws IOException, InterruptedException;

  /**
   * Ensures that all candidates share one status store.
   *
   * @throws IOException when another candidate has a different store, or the check fails
   */
  void requireStore(String store) throws IOException;

  /** Adds a candidate. */
  Candidacy join(Candidate self) throws IOException;

  /** Returns the newest known candidates, the leader first. */
  List<Candidate> candidates();

  /** Returns the newest known leader. */
  Optional<Candidate> leader();

  /** Describes the problem of the connection to the group; empty: none. */
  Optional<String> problem();

  /**
   * Returns the name of the group as the owner of a status store. It is the same for all its
   * schedulers, however each of them connects. Known once {@link #requireStore} was called.
   */
  String ownerName();

  /** Returns what the group knows of its status store. */
  GroupMark mark();

  /** Returns a readable name. */
  @Override
  String toString();

  @Override
  void close();
}
