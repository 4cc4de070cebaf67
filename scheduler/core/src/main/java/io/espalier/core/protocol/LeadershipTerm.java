package io.espalier.core.protocol;

import java.util.function.BooleanSupplier;

/**
 * One leadership of one status store: by what right a scheduler speaks to workers.
 *
 * @param epoch raised durably in the store before
 * @param storeId of the store, made with it and never changed; empty: not known
 * @param leads whether it is certain, at the moment of asking, that no other leads. It is asked
 *     before each message of a worker is handled and before each batch is sent, so it must be
 *     cheap; its clock must count the time for which the host is suspended
 */
public record LeadershipTerm(long epoch, String storeId, BooleanSupplier leads) {
  /** Of the only scheduler that there can be. */
  public static LeadershipTerm alone(long epoch, String storeId) {
    return new LeadershipTerm(epoch, storeId, () -> true);
  }

  /** Whether that is the id of another store; what is not known is no other. */
  boolean isForeign(String otherStoreId) {
    return !otherStoreId.isEmpty() && !storeId.isEmpty() && !otherStoreId.equals(storeId);
  }
}
