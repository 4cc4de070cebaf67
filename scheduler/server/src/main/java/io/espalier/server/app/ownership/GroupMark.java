package io.espalier.server.app.ownership;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.EventMark;

/**
 * What a group of schedulers knows of its status store, kept outside the store: a store that was
 * set back or lost cannot tell. Data directories know the same, but each only of its own
 * leaderships. Thread-safe; the methods block.
 */
public interface GroupMark {
  /** For schedulers without a group, and for a group that elects by the store itself. */
  GroupMark NONE =
      new GroupMark() {
        @Override
        public Known read() {
          return Known.NOTHING;
        }

        @Override
        public void write(Known known) {}

        @Override
        public EventMark newestEvent() {
          return EventMark.NONE;
        }

        @Override
        public void newestEvent(EventMark mark) {}
      };

  /**
   * The content of the mark.
   *
   * @param epoch the highest epoch used; 0: none
   * @param leaseMillis how long leases of earlier leaderships may last; 0: none are known
   * @param setBack how it was detected that the store was set back, until the wait for earlier
   *     leases is over; otherwise empty
   */
  record Known(long epoch, long leaseMillis, String setBack) {
    /** Nothing was written yet. */
    public static final Known NOTHING = new Known(0, 0, "");
  }

  /**
   * Reads the mark.
   *
   * @throws StoreException when it cannot be read
   */
  Known read();

  /**
   * Durably replaces the mark. Only a leader may call it.
   *
   * @throws StoreException when it cannot be written, or when a leader with a later epoch has
   *     written it
   */
  void write(Known known);

  /**
   * Returns the newest event that the store was last known to contain.
   *
   * @throws StoreException when it cannot be read
   */
  EventMark newestEvent();

  /**
   * Durably replaces what {@link #newestEvent()} returns, unless a leader with a later epoch has
   * written it. Only a leader may call it.
   *
   * @throws StoreException when it cannot be written
   */
  void newestEvent(EventMark mark);
}
