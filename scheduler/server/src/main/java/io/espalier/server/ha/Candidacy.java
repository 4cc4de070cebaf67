package io.espalier.server.ha;

import io.espalier.server.app.ownership.StoreOwnership;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A membership in the candidates of a group of schedulers, from joining to leaving. Thread-safe.
 */
abstract class Candidacy implements AutoCloseable {
  private final Object change = new Object();

  /**
   * Waits until it is certain that this candidate leads.
   *
   * @return true when it leads
   */
  final boolean awaitLeadership(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (change) {
      for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
        if (leads()) {
          return true;
        }
        TimeUnit.NANOSECONDS.timedWait(change, left);
      }
    }
    return leads();
  }

  /** Returns true when it is certain that this candidate leads at this moment. */
  final boolean leads() {
    return !isLost() && remainingMillis() > 0;
  }

  /** Wakes those who wait to lead; called whenever this candidate may lead, or leads no more. */
  final void changed() {
    synchronized (change) {
      change.notifyAll();
    }
  }

  /**
   * Returns true when another candidate may lead, so that waiting is useless. Overdue proofs alone
   * do not count, because they may succeed again.
   */
  abstract boolean isLost();

  /** Returns true when this candidacy is finished: it has led and leads no more. */
  abstract boolean isOver();

  /**
   * Returns for how many milliseconds it is certain that this candidate leads; 0 or less: it is
   * not.
   */
  abstract long remainingMillis();

  /** Describes what prevents the proof that it leads; empty: nothing. */
  abstract Optional<String> problem();

  /** Returns the ownership of the status store that elected it; empty: it was elected otherwise. */
  abstract Optional<StoreOwnership> ownership();

  /** Notifies all who wait for a leader that it answers from now on. */
  abstract void opened();

  /** Leaves the group; another candidate may lead at once. */
  @Override
  public abstract void close();
}
