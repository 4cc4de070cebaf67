package io.espalier.thrift.wire;

/** A message that lacks a required field or has an impossible value; it had no effect. */
public final class BadMessageException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BadMessageException(String message) {
    super(message);
  }

  BadMessageException(String message, Throwable cause) {
    super(message, cause);
  }
}
