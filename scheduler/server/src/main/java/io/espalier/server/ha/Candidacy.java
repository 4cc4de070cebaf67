package io.espalier.server.ha;

import io.espalier.server.app.ownership.StoreOwnership;
import java.util.Optional;

/**
 * A membership in the candidates of a group of schedulers, from joining to leaving. Thread-safe.
 */
interface Candidacy extends AutoCloseable {
  /**
   * Waits until it is certain that this candidate leads.
   *
   * @return true when it leads
   */
  boolean awaitLeadership(long millis) throws InterruptedException;

  /**
   * Returns true when another candidate may lead, so that waiting is useless. Overdue proofs alone
   * do not count, because they may succeed again.
   */
  boolean isLost();

  /** Returns true when this candidacy is finished: it has led and leads no more. */
  boolean isOver();

  /**
   * Returns for how many milliseconds it is certain that this candidate leads; 0 or less: it is
   * not.
   */
  long remainingMillis();

  /** Describes what prevents the proof that it leads; empty: nothing. */
  Optional<String> problem();

  /** Returns the ownership of the status store that elected it; empty: it was elected otherwise. */
  Optional<StoreOwnership> ownership();

  /** Notifies all who wait for a leader that it answers from now on. */
  void opened();

  /** Leaves the group; another candidate may lead at once. */
  @Override
  void close();
}
