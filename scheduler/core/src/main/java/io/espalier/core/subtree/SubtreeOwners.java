package io.espalier.core.subtree;

import io.espalier.core.status.store.StatusRow;
import java.util.List;
import java.util.function.Consumer;

/**
 * The port to what schedulers share so that subtrees can move between them: the owner of each, and
 * the statuses on their way. Only the owner of a subtree changes who has it, and only as long as no
 * later leader of the same scheduler has begun.
 *
 * <p>All methods block and may be called by any thread. Failures are {@link
 * io.espalier.core.status.store.StoreException}s; whether the failed call had an effect is then not
 * known, and calling it again is safe.
 */
public interface SubtreeOwners extends AutoCloseable {
  /**
   * The statuses of one job.
   *
   * @param createTime which job of its name it is; 0: not known
   */
  record JobStatuses(String job, long createTime, List<StatusRow> rows) {}

  /** Returns all rows, in any order. */
  List<SubtreeRow> rows();

  /**
   * Lets go of a subtree that this scheduler has: durably stores its statuses, and its new owner,
   * together or not at all. Does nothing when that has happened.
   *
   * @param statuses passes the statuses to its argument
   * @throws io.espalier.core.status.store.StaleEpochException when a later leader has begun
   */
  void release(String name, int to, Consumer<Consumer<JobStatuses>> statuses);

  /** Reads the statuses of a subtree that was released to this scheduler. */
  void statuses(String name, Consumer<JobStatuses> statuses);

  /**
   * Records that this scheduler has the statuses of a subtree that was released to it, durably.
   * Does nothing when that has happened.
   *
   * @throws io.espalier.core.status.store.StaleEpochException when a later leader has begun
   */
  void take(String name);

  /**
   * Tells the other schedulers to which of them tags give subtrees, and compares.
   *
   * @param mine the tags, in a form that is the same for all
   * @return the numbers of the schedulers that have other tags, ascending
   */
  List<Integer> compareTags(String mine);

  @Override
  void close();
}
