package io.espalier.core.loop.state;

import io.espalier.core.scheduling.gate.Scope;

/**
 * How many starts of a scheduler, a job or a worker may be in flight. The window is at most the
 * configured bound; it is halved when a start is refused or slow, and grows by one with each that
 * is not. Of the starts that were placed before it was halved, no other halves it again, because
 * they say nothing new.
 *
 * <p>The owner of the loop changes it; any thread may read {@link #inFlight} and {@link #size}.
 */
public final class StartWindow {
  private final Scope scope;
  private int most;
  private volatile int size;
  private volatile int inFlight;
  private boolean closesGate;

  /** The newest start when the window was halved last. */
  private long halvedAt;

  /**
   * @param scope whose starts they are: all, or those of a job or a worker
   * @param most the configured bound, from 1
   */
  public StartWindow(Scope scope, int most) {
    this.scope = scope;
    this.most = most;
    this.size = most;
  }

  public Scope scope() {
    return scope;
  }

  /** Returns the configured bound. */
  public int most() {
    return most;
  }

  /** Returns the bound in force. */
  public int size() {
    return size;
  }

  /** Returns the number of starts in flight. */
  public int inFlight() {
    return inFlight;
  }

  /** Returns how many more tasks may be placed now. */
  public int room() {
    return Math.max(0, size - inFlight);
  }

  public boolean isFull() {
    return inFlight >= size;
  }

  /** Returns whether the gate of its job or worker is closed for it. */
  public boolean closesGate() {
    return closesGate;
  }

  public void setClosesGate(boolean closes) {
    closesGate = closes;
  }

  /** Returns whether it is at most half of the configured bound. */
  public boolean isNarrow() {
    return size * 2L <= most && most > 1;
  }

  /** Takes the configured bound, which becomes the size if it has changed. */
  public void configured(int newMost) {
    if (newMost != most) {
      most = newMost;
      size = newMost;
    }
  }

  // There is only one writer, so no update is lost.

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void placed() {
    inFlight++;
  }

  /** A start is not in flight any more, and that says nothing about starts. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void left() {
    inFlight--;
  }

  /** A start was confirmed in time. */
  public void succeeded() {
    left();
    size = Math.min(most, size + 1);
  }

  /**
   * A start was refused, lost or slow.
   *
   * @param start the number of the start; later ones have larger numbers
   * @param newest the number of the newest start of the scheduler
   */
  public void failed(long start, long newest) {
    left();
    if (start > halvedAt) {
      size = Math.max(1, size / 2);
      halvedAt = newest;
    }
  }
}
