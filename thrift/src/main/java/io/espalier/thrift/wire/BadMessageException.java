package io.espalier.thrift.wire;

/** A message that lacks something or says what cannot be; nothing of it was acted upon. */
public final class BadMessageException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BadMessageException(String message) {
    super(message);
  }

  BadMessageException(String message, Throwable cause) {
    super(message, cause);
  }
}
