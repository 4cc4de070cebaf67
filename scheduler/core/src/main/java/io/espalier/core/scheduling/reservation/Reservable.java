package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.Renumbering;
import org.jspecify.annotations.Nullable;

/**
 * Capacity that can be reserved: the nodes of the tree, the queues, or the workers. It knows which
 * jobs wait for it and what they lack; {@link ReservationEngine} knows the time.
 */
interface Reservable {
  /** Returns the number that identifies a wait. */
  long key(Wait wait);

  /** Returns the wait of a number, or null. */
  @Nullable Wait find(long key);

  /** Returns the wait that continues one of the previous state, or null. */
  @Nullable Wait find(Wait before, Renumbering numbers);

  /**
   * Returns whether due timers are handled when the next round has ended. Between the end of a task
   * and the following round, slots are free that other jobs will take before the heavy job can use
   * them.
   */
  boolean firesAtRoundEnd();

  /** Returns the instant from which the wait counts. */
  long countsFrom(Wait wait);

  /** Handles a wait whose beginning has become known: sets its timer, unless waiting is useless. */
  void began(Wait wait);

  /** Handles a wait that has lasted long enough and has no reservation. */
  void due(Wait wait);

  /** Returns whether a reservation can still be of use; otherwise it ends. */
  boolean mayKeep(Wait wait);

  /** Returns whether the job with a reservation lacks capacity now, so that it cannot start. */
  boolean lacksCapacity(Wait wait);

  /**
   * Handles a reservation that the job could have used for its {@code reserve_after}: ends it, and
   * the wait restarts.
   */
  void unused(Wait wait);

  /** Withholds from other jobs what the job needs of {@link Wait#place}. */
  void reserve(Wait wait);

  /** Ends what {@link #reserve} did; for nodes, {@link #refresh} must follow. */
  void free(Wait wait, int place);

  /** Brings the index up to date after a reservation has ended. */
  void refresh(Wait wait);

  /** Returns the name of the reserved place. */
  String name(Wait wait);

  /** Returns the place of a name if it can be reserved for the job, or -1. */
  int again(Wait wait, String name);
}
