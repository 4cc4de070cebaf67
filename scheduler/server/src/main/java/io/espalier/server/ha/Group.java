package io.espalier.server.ha;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Schedulers of which one leads, as one of them sees them. Thread-safe. */
interface Group extends AutoCloseable {
  /**
   * Waits until it can be reached.
   *
   * @throws IOException saying why it cannot
   */
  void awaitConnected() throws IOException, InterruptedException;

  /**
   * Makes sure that all candidates share one status store.
   *
   * @throws IOException when another has a different one, or that cannot be asked
   */
  void requireStore(String store) throws IOException;

  /** Becomes one of the candidates. */
  Candidacy join(Candidate self) throws IOException;

  /** The newest known candidates, the leader first. */
  List<Candidate> candidates();

  /** The newest known leader. */
  Optional<Candidate> leader();

  /** What is wrong with the way to it; empty: nothing. */
  Optional<String> problem();

  /**
   * Names it as the owner of a status store: the same for all of its schedulers, however each of
   * them reaches it. Known once the store was required.
   */
  String ownerName();

  /** Names it for people. */
  @Override
  String toString();

  @Override
  void close();
}
