package io.espalier.core.protocol;

import java.util.function.BooleanSupplier;

/**
 * One term of leadership of one status store, which entitles a scheduler to direct workers.
 *
 * @param epoch epoch, raised durably in the store beforehand
 * @param storeId id of the store, created with it and never changed; empty: unknown
 * @param leads returns true when it is certain, at the time of the call, that no other scheduler
 *     leads. It is called before each message of a worker is handled and before each batch is sent,
 *     so it must be cheap; its clock must count the time for which the host is suspended
 */
public record LeadershipTerm(long epoch, String storeId, BooleanSupplier leads) {
  /** Creates the term of a scheduler that cannot have a rival. */
  public static LeadershipTerm alone(long epoch, String storeId) {
    return new LeadershipTerm(epoch, storeId, () -> true);
  }

  /** Returns true when the id is known to be that of another store. */
  boolean isForeign(String otherStoreId) {
    return !otherStoreId.isEmpty() && !storeId.isEmpty() && !otherStoreId.equals(storeId);
  }
}
