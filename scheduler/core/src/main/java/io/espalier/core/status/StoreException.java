package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/** A status store could not do what it was asked to; nothing of the request was done. */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean retryable;

  /**
   * @param message one line for a person: which store, what failed, what to do
   * @param retryable whether the same request may succeed later without anything being changed in
   *     the request (locked, disk full, unreachable)
   */
  public StoreException(String message, boolean retryable, @Nullable Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  /** Whether asking again later may help. */
  public final boolean retryable() {
    return retryable;
  }
}
