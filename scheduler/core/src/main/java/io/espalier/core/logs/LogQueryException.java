package io.espalier.core.logs;

/**
 * Thrown when a query cannot be answered because of its content; the message is a sentence for its
 * author.
 */
public final class LogQueryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public LogQueryException(String message) {
    super(message);
  }
}
