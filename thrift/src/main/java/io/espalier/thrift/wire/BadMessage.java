package io.espalier.thrift.wire;

/** A message that lacks something or says what cannot be; nothing of it was acted upon. */
public final class BadMessage extends RuntimeException {
  private static final long serialVersionUID = 1;

  BadMessage(String message) {
    super(message);
  }

  BadMessage(String message, Throwable cause) {
    super(message, cause);
  }
}
