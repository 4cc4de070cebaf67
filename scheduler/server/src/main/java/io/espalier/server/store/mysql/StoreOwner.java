package io.espalier.server.store.mysql;

/**
 * Who has a store, as its one row says.
 *
 * @param owner a machine with a data directory, or a group of schedulers; empty: nobody
 * @param process the newest process of it, by a random id
 * @param label the same for people
 * @param sinceMillis when that process took the store, by its wall clock
 * @param proofMillis for how long each change of the row proves that the store is the process's:
 *     one that has not been able to change it for so long does nothing with it any more
 * @param leaseMillis how long tasks of the process may live after that
 * @param beat changes whenever the row does
 * @param ended whether it has ended in order
 */
public record StoreOwner(
    String owner,
    String process,
    String label,
    long sinceMillis,
    long proofMillis,
    long leaseMillis,
    long beat,
    boolean ended) {

  /** Whether nobody has the store: it may be taken at once. */
  public boolean isFree() {
    return ended || owner.isEmpty();
  }

  /** Whether nothing has changed in the row since it was read as the other one. */
  public boolean isUnchangedSince(StoreOwner earlier) {
    return process.equals(earlier.process) && beat == earlier.beat && ended == earlier.ended;
  }
}
