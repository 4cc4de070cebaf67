package io.espalier.webui.bistro;

/** A sub-query cannot be answered as it was asked; the message becomes its {@code error}. */
final class BadArgumentsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadArgumentsException(String message) {
    super(message);
  }
}
