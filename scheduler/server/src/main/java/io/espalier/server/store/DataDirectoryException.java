package io.espalier.server.store;

import org.jspecify.annotations.Nullable;

/** The data directory cannot be used; the message is one line for the person at the terminal. */
public final class DataDirectoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** Why. */
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
