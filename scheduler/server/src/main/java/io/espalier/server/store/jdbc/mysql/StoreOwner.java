package io.espalier.server.store.jdbc.mysql;

/**
 * The row that names the owner of a store.
 *
 * @param owner a machine with a data directory, or a group of schedulers; empty: no owner
 * @param process a random id of the owner's newest process
 * @param label the owner for people
 * @param sinceMillis when that process took the store, by its wall clock
 * @param proofMillis for how long each update of the row proves that the process owns the store; a
 *     process that could not update the row for so long no longer uses the store
 * @param leaseMillis how long tasks of the process may live after that
 * @param beat changes with every update of the row
 * @param ended whether the process ended cleanly
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

  /** Returns true when the store has no owner and may be taken at once. */
  public boolean isFree() {
    return ended || owner.isEmpty();
  }

  /** Returns true when the row has not changed since {@code earlier} was read. */
  public boolean isUnchangedSince(StoreOwner earlier) {
    return process.equals(earlier.process) && beat == earlier.beat && ended == earlier.ended;
  }
}
