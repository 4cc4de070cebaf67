package io.espalier.webui.bistro;

/** Thrown when a sub-query has invalid arguments; the message becomes its {@code error}. */
final class BadArgumentsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadArgumentsException(String message) {
    super(message);
  }
}
