package io.espalier.server.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the data directory cannot be used. The message is one line for the person at the
 * terminal.
 */
public final class DataDirectoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** The reason why the directory cannot be used. */
  public enum Reason {
    /** Another process uses it. */
    LOCKED,
    /** It belongs to another configuration. */
    OTHER_SOURCE,
    /** It cannot be created, read or written. */
    UNUSABLE
  }

  DataDirectoryException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
