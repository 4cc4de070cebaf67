package io.espalier.webui.bistro;

/** A sub-query cannot be answered as it was asked; the message becomes its {@code error}. */
final class BadArguments extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadArguments(String message) {
    super(message);
  }
}
