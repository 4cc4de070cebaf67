package io.espalier.core.status.store;

import org.jspecify.annotations.Nullable;

/** Thrown when a status store could not execute a request; the request had no effect. */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean retryable;

  /**
   * @param message one line for a person: which store, what failed, what to do
   * @param retryable whether the unchanged request may succeed later (locked, disk full,
   *     unreachable)
   */
  public StoreException(String message, boolean retryable, @Nullable Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  /** Returns true when the same request may succeed later. */
  public final boolean retryable() {
    return retryable;
  }
}
