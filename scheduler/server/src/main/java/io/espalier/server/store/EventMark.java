package io.espalier.server.store;

import io.espalier.core.status.store.StoreException;
import java.util.List;

/**
 * The newest event that a status store is known to contain, remembered outside the store. A store
 * that has the same epoch and an older newest event was set back within a leadership.
 *
 * @param epoch epoch of the leadership; 0: nothing is known
 * @param sequence sequence of its newest event
 */
public record EventMark(long epoch, long sequence) {
  public static final EventMark NONE = new EventMark(0, 0);

  /** Returns the text that {@link #parse} reads. */
  public String text() {
    return epoch + " " + sequence + "\n";
  }

  /**
   * Reads a mark.
   *
   * @param where for the message: the file or znode
   * @throws StoreException not retryable, when the text is none
   */
  public static EventMark parse(String text, String where) {
    List<String> words = List.of(text.strip().split(" ", -1));
    try {
      if (words.size() == 2) {
        EventMark mark = new EventMark(Long.parseLong(words.get(0)), Long.parseLong(words.get(1)));
        if (mark.epoch > 0 && mark.sequence >= 0) {
          return mark;
        }
      }
    } catch (NumberFormatException ignored) {
      // Reported below, like numbers out of range.
    }
    throw new StoreException(
        where
            + " is damaged; delete it, and start once with --safe-wait, in case that the status"
            + " store was set back",
        false,
        null);
  }
}
