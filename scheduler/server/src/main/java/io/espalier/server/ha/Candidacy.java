package io.espalier.server.ha;

import io.espalier.server.process.StoreOwnership;
import java.util.Optional;

/** From joining the candidates of a group of schedulers to leaving them. Thread-safe. */
interface Candidacy extends AutoCloseable {
  /**
   * Waits until this candidate leads for certain.
   *
   * @return whether it does
   */
  boolean awaitLeadership(long millis) throws InterruptedException;

  /**
   * Whether another may lead, so that there is nothing to wait for. That proofs are overdue is not
   * that: they may come again.
   */
  boolean isLost();

  /** Whether nothing will come of this candidacy any more: it has led and leads no more. */
  boolean isOver();

  /** For how long it is certain that this candidate leads; 0 or less: it is not. */
  long remainingMillis();

  /** What keeps it from proving that it leads; empty: nothing. */
  Optional<String> problem();

  /** The ownership of the status store by which it was elected; empty: by something else. */
  Optional<StoreOwnership> ownership();

  /** Tells all who wait for a leader that it answers from now on. */
  void opened();

  /** Leaves; another may lead at once. */
  @Override
  void close();
}
