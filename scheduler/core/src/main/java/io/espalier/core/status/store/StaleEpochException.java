package io.espalier.core.status.store;

/**
 * Thrown when a newer scheduler has taken over the store; this one must stop starting tasks. Never
 * retried.
 */
public final class StaleEpochException extends StoreException {
  private static final long serialVersionUID = 1L;

  private final long mine;
  private final long current;

  /**
   * @param mine the epoch that was refused
   * @param current the epoch in force
   */
  public StaleEpochException(String store, long mine, long current) {
    super(
        store + " belongs to scheduler epoch " + current + "; epoch " + mine + " may not write it",
        false,
        null);
    this.mine = mine;
    this.current = current;
  }

  /** The epoch that was refused. */
  public long mine() {
    return mine;
  }

  /** The epoch in force. */
  public long current() {
    return current;
  }
}
