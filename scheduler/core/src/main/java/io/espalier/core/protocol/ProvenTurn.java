package io.espalier.core.protocol;

import java.util.OptionalLong;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * How the owner of one half of the protocol works: it handles what has come in, message by message,
 * and then does one step. Each message is handled by the time of its handling: the owner may be
 * stopped between two of them for as long as you like (a frozen process, a suspended host), and
 * what it decides next must know.
 *
 * <p>Has no thread: the owner calls {@link #advance}, with its messages in a queue that others
 * fill.
 *
 * @param <T> what its clock shows
 */
public final class ProvenTurn<T> {
  private final Half<T> half;
  private final Queue<Runnable> inbox;
  private final int most;
  private int handled;
  private T now;

  /**
   * What is owned.
   *
   * @param <T> what its clock shows
   */
  public interface Half<T> {
    /** Looks at the clock. */
    T now();

    /** A message was handled, well or badly. */
    void handled();

    /** Does what is due. */
    long step();

    /** A message failed: a mistake in one must not take all others with it. */
    void failed(RuntimeException mistake);
  }

  /**
   * @param most so many messages are handled before a step is due
   */
  public ProvenTurn(Half<T> half, Queue<Runnable> inbox, int most) {
    this.half = half;
    this.inbox = inbox;
    this.most = most;
    this.now = half.now();
  }

  /** The time of what is being handled. */
  public T now() {
    return now;
  }

  /** Handles a message that is not in the queue any more. */
  public void handle(@Nullable Runnable message) {
    if (message == null) {
      return;
    }
    handled++;
    now = half.now();
    attempt(message);
    attempt(half::handled);
  }

  private void attempt(Runnable what) {
    try {
      what.run();
    } catch (RuntimeException e) {
      half.failed(e);
    }
  }

  /**
   * Handles the next message; when there is none, or there were enough of them, does the step.
   *
   * @return what the step returned; empty: it has yet to come
   */
  public OptionalLong advance() {
    Runnable message = handled < most ? inbox.poll() : null;
    if (message != null) {
      handle(message);
      return OptionalLong.empty();
    }
    handled = 0;
    now = half.now();
    return OptionalLong.of(half.step());
  }

  /** Handles that message, if there is one, and all that wait, and does the step. */
  public long whole(@Nullable Runnable first) {
    handle(first);
    OptionalLong done = advance();
    while (done.isEmpty()) {
      done = advance();
    }
    return done.getAsLong();
  }
}
