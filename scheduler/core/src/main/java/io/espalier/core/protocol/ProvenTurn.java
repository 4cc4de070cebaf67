package io.espalier.core.protocol;

import java.util.OptionalLong;
import java.util.Queue;

/**
 * Drives the owner of one half of the protocol: it handles incoming messages one by one and then
 * performs a step. The clock is read again for each message, because the owner may be stopped for
 * any length of time between two messages (a frozen process, a suspended host), and its next
 * decision must take that into account.
 *
 * <p>It has no thread: the owner calls {@link #advance}; other threads add messages to the queue.
 *
 * @param <T> type of the clock's readings
 */
public final class ProvenTurn<T> {
  private final Half<T> half;
  private final Queue<Runnable> inbox;
  private final int most;
  private int handled;
  private T now;

  /**
   * The half of the protocol that is driven.
   *
   * @param <T> type of the clock's readings
   */
  public interface Half<T> {
    /** Reads the clock. */
    T now();

    /** Called after each message, whether it succeeded or failed. */
    void handled();

    /** Performs what is due. */
    long step();

    /** Reports that a message failed: a bug in one message must not affect the others. */
    void failed(RuntimeException mistake);
  }

  /**
   * @param most maximum number of messages handled before a step is due
   */
  public ProvenTurn(Half<T> half, Queue<Runnable> inbox, int most) {
    this.half = half;
    this.inbox = inbox;
    this.most = most;
    this.now = half.now();
  }

  /** The time of the message or step being handled. */
  public T now() {
    return now;
  }

  private void attempt(Runnable what) {
    try {
      what.run();
    } catch (RuntimeException e) {
      half.failed(e);
    }
  }

  /**
   * Handles the next message, or performs the step when the queue is empty or enough messages were
   * handled.
   *
   * @return the result of the step; empty when a message was handled instead
   */
  public OptionalLong advance() {
    Runnable message = handled < most ? inbox.poll() : null;
    if (message != null) {
      handled++;
      now = half.now();
      attempt(message);
      attempt(half::handled);
      return OptionalLong.empty();
    }
    handled = 0;
    now = half.now();
    return OptionalLong.of(half.step());
  }

  /** Handles queued messages until a step is performed. */
  public long whole() {
    OptionalLong done = advance();
    while (done.isEmpty()) {
      done = advance();
    }
    return done.getAsLong();
  }
}
